"""What each switch cost counts once, and lost work with the GPUs that had done it."""

from __future__ import annotations

from django.db import migrations, models

_COUNTED = """
    UPDATE gpu_accounts_accountedjob AS account SET counted_generation = known.generation
    FROM (
        SELECT job_id, max(generation) AS generation FROM gpu_accounts_heldspan GROUP BY job_id
    ) AS known
    WHERE known.job_id = account.id
"""
_OF_ALL_GPUS = """
    UPDATE gpu_accounts_heldspan SET lost_gpu_seconds = lost_gpu_seconds * gpus
    WHERE lost_gpu_seconds > 0
"""


class Migration(migrations.Migration):
    dependencies = [("gpu_accounts", "0001_initial")]

    operations = [
        migrations.RenameField("heldspan", "lost_work_seconds", "lost_gpu_seconds"),
        migrations.AlterField(
            "heldspan",
            "lost_gpu_seconds",
            models.FloatField(
                db_default=0.0,
                default=0.0,
                help_text="Training of earlier times, found to be lost then.",
            ),
        ),
        migrations.AlterField(
            "heldspan",
            "stall_seconds",
            models.FloatField(
                db_default=0.0,
                default=0.0,
                help_text="From then on, in which nobody trained.",
            ),
        ),
        migrations.AddField(
            "accountedjob",
            "counted_generation",
            models.PositiveIntegerField(
                db_default=0,
                default=0,
                help_text="Up to which it is written down what switches cost.",
            ),
        ),
        migrations.RunSQL(_COUNTED, migrations.RunSQL.noop),
        migrations.RunSQL(_OF_ALL_GPUS, migrations.RunSQL.noop),
    ]
