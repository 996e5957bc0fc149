import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import jobs.models.job


class Migration(migrations.Migration):
    replaces = [
        ("what_if", "0001_initial"),
        ("what_if", "0002_one_simulation_at_a_time"),
        ("what_if", "0003_simulations_have_owners"),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Simulation",
            fields=[
                (
                    "id",
                    models.CharField(
                        default=jobs.models.job.new_id,
                        editable=False,
                        max_length=12,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("title", models.CharField(max_length=120)),
                ("request", models.JSONField(help_text="The checked body of the request.")),
                ("requested_by", models.CharField(help_text="Their name then.", max_length=150)),
                ("requested_at", models.DateTimeField(auto_now_add=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "queued: waits for the background worker"),
                            ("running", "running: a worker simulates"),
                            ("completed", "completed: the result is stored"),
                            ("failed", "failed: `error` says why"),
                            ("cancelled", "cancelled: by whoever asked for it, or an admin"),
                        ],
                        default="queued",
                        max_length=10,
                    ),
                ),
                ("attempt", models.PositiveSmallIntegerField(default=0)),
                (
                    "seen_at",
                    models.DateTimeField(
                        blank=True, help_text="When its worker last gave a sign of life.", null=True
                    ),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "progress",
                    models.FloatField(
                        default=0.0, help_text="Share of all simulated jobs that ended."
                    ),
                ),
                ("error", models.TextField(blank=True, default="")),
                (
                    "result",
                    models.JSONField(blank=True, help_text="Figures of every run.", null=True),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        help_text="Who asked for it, whatever their name is now. Empty: nobody who is still here.",
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ("-requested_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="Report",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("html", models.TextField()),
                (
                    "simulation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="report",
                        to="what_if.simulation",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="simulation",
            index=models.Index(fields=["state"], name="what_if_sim_state_fb1600_idx"),
        ),
        migrations.AddIndex(
            model_name="simulation",
            index=models.Index(fields=["-requested_at"], name="what_if_sim_request_76efae_idx"),
        ),
        migrations.AddConstraint(
            model_name="simulation",
            constraint=models.CheckConstraint(
                condition=models.Q(("progress__gte", 0), ("progress__lte", 1)),
                name="progress_is_a_share",
            ),
        ),
        migrations.AddConstraint(
            model_name="simulation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("state", "completed"), _negated=True),
                    ("result__isnull", False),
                    _connector="OR",
                ),
                name="a_completed_simulation_has_a_result",
            ),
        ),
        migrations.AddConstraint(
            model_name="simulation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("state", "running")),
                fields=("state",),
                name="one_simulation_runs_at_a_time",
            ),
        ),
    ]
