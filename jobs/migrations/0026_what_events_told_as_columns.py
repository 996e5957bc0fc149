from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0025_columns_of_assignments"),
    ]

    operations = [
        migrations.AddField(
            model_name="job",
            name="state_since",
            field=models.DateTimeField(
                blank=True,
                help_text="When it came into its state; null: when it was submitted.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="coordinator_restarts",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="Since it came into its state."
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="preparation_notice_revision",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The newest one of which people heard that it is prepared.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="disk_notice_start",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="The newest start in which they heard that its disk fills.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="error_notice_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When they heard last that a tick could not handle it.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="planning_failures",
            field=models.PositiveIntegerField(
                db_default=0, default=0, help_text="How often it began to fail, each within a day."
            ),
        ),
        migrations.AddField(
            model_name="job",
            name="planning_failed_at",
            field=models.DateTimeField(
                blank=True, help_text="When it began to fail last.", null=True
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="last_lines",
            field=models.JSONField(
                db_default=[],
                default=list,
                help_text="The end of its log, if its own code went wrong.",
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="counted_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When its end was counted for its job; null: it was not.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="counted_revision",
            field=models.PositiveIntegerField(
                blank=True, help_text="The assignment that its job had then.", null=True
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="silence_notice_at",
            field=models.DateTimeField(
                blank=True, help_text="When people heard that its node does not answer.", null=True
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="slowness_notice_at",
            field=models.DateTimeField(
                blank=True,
                help_text="When people heard that its node slows workers down.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="straggler_found_at",
            field=models.DateTimeField(
                blank=True, help_text="When it was found to be one last.", null=True
            ),
        ),
        migrations.AddField(
            model_name="worker",
            name="straggler_gpus",
            field=models.JSONField(
                db_default=[], default=list, help_text="Indices of the GPUs that it had then."
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="job",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
            ),
        ),
        *(
            migrations.AddIndex(
                model_name="worker",
                index=models.Index(
                    condition=Q((f"{moment}__isnull", False)),
                    fields=[moment],
                    name=f"worker_{moment}",
                ),
            )
            for moment in ("counted_at", "straggler_found_at", "slowness_notice_at")
        ),
    ]
