from typing import Any

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def find_owners(apps: Any, _: Any) -> None:
    """Whoever had this name then; not who was given it later."""
    simulations = apps.get_model("what_if", "Simulation").objects.filter(owner=None)
    people = apps.get_model(settings.AUTH_USER_MODEL)
    for simulation in simulations.only("requested_by", "requested_at").iterator():
        owner = people.objects.filter(
            username=simulation.requested_by, date_joined__lte=simulation.requested_at
        ).first()
        if owner is not None:
            simulations.filter(pk=simulation.pk).update(owner=owner)


class Migration(migrations.Migration):
    dependencies = [
        ("what_if", "0002_one_simulation_at_a_time"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="simulation",
            name="owner",
            field=models.ForeignKey(
                blank=True,
                help_text="Who asked for it, whatever their name is now. Empty: nobody who is still here.",
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="simulation",
            name="requested_by",
            field=models.CharField(help_text="Their name then.", max_length=150),
        ),
        migrations.RunPython(find_owners, migrations.RunPython.noop, elidable=True),
    ]
