from typing import Any

from django.db import migrations, models


def queue_again(apps: Any, _: Any) -> None:
    """What runs now: whoever carries it out finds out that it is not theirs any more."""
    apps.get_model("what_if", "Simulation").objects.filter(state="running").update(state="queued")


class Migration(migrations.Migration):
    dependencies = [("what_if", "0001_initial")]

    operations = [
        migrations.RunPython(queue_again, migrations.RunPython.noop, elidable=True),
        migrations.AddConstraint(
            model_name="simulation",
            constraint=models.UniqueConstraint(
                fields=("state",),
                condition=models.Q(("state", "running")),
                name="one_simulation_runs_at_a_time",
            ),
        ),
    ]
