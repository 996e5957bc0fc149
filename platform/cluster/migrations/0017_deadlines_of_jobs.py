"""Deadlines hold under every policy: pools of the policy that knew them get what it was based on."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def take_the_default_policy(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    pools = apps.get_model("cluster", "Pool").objects.using(schema_editor.connection.alias)
    pools.filter(policy="deadline").update(policy="completion_time", policy_options={})


class Migration(migrations.Migration):
    dependencies = [("cluster", "0016_no_index_twice")]

    operations = [
        migrations.RunPython(take_the_default_policy, migrations.RunPython.noop, elidable=True)
    ]
