import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("tenancy", "0002_fair_share"),
        ("tenancy", "0003_team_secrets"),
        ("tenancy", "0004_image_rules"),
        ("tenancy", "0005_how_many_jobs_may_wait"),
        ("tenancy", "0006_reclaim_in_the_pools_time"),
    ]

    dependencies = [
        ("cluster", "0013_unplanned_pools"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="DecayedUsage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("gpu_seconds", models.FloatField(default=0.0)),
                ("at", models.DateTimeField()),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenancy.team",
                    ),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="cluster.pool",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="FairShareSettings",
            fields=[
                (
                    "pool",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="fair_share",
                        serialize=False,
                        to="cluster.pool",
                    ),
                ),
                (
                    "half_life_hours",
                    models.FloatField(
                        default=48.0,
                        help_text="After so many hours, usage of the past counts half.",
                        validators=[django.core.validators.MinValueValidator(0.01)],
                    ),
                ),
                (
                    "usage_weight",
                    models.FloatField(
                        default=0.0,
                        help_text="How much it counts against a team's weight. 0: not at all.",
                        validators=[django.core.validators.MinValueValidator(0.0)],
                    ),
                ),
                (
                    "reclaim_target",
                    models.CharField(
                        choices=[
                            ("guarantee", "guarantee: a team takes back its guarantee"),
                            ("fair_share", "fair share: it takes its share of what is idle, too"),
                        ],
                        default="guarantee",
                        help_text="How far a team with waiting work may take GPUs back from borrowers.",
                        max_length=12,
                    ),
                ),
                (
                    "reclaim_delay_seconds",
                    models.FloatField(
                        default=0.0,
                        help_text="A claim waits so long for GPUs that become free by themselves.",
                        validators=[django.core.validators.MinValueValidator(0.0)],
                    ),
                ),
                (
                    "reclaim_min_runtime_seconds",
                    models.FloatField(
                        default=0.0,
                        help_text="A borrower that runs for less is only shrunk for a claim, not paused.",
                        validators=[django.core.validators.MinValueValidator(0.0)],
                    ),
                ),
                (
                    "reclaim_seconds",
                    models.FloatField(
                        db_default=60.0,
                        default=60.0,
                        help_text="What is taken back for another team's guarantee is free after so long: caps the grace_period and registration_timeout of borrowers.",
                        validators=[
                            django.core.validators.MinValueValidator(5.0),
                            django.core.validators.MaxValueValidator(3600.0),
                        ],
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "fair share settings",
            },
        ),
        migrations.AddField(
            model_name="quota",
            name="lending_limit_gpus",
            field=models.PositiveIntegerField(
                blank=True,
                help_text="Most GPUs of the guarantee that others may use while it is idle. Empty: all.",
                null=True,
            ),
        ),
        migrations.AddConstraint(
            model_name="quota",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("lending_limit_gpus__isnull", True),
                    ("lending_limit_gpus__lte", models.F("guaranteed_gpus")),
                    _connector="OR",
                ),
                name="lends_at_most_the_guarantee",
            ),
        ),
        migrations.AddConstraint(
            model_name="fairsharesettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("half_life_hours__gt", 0)), name="half_life_is_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="fairsharesettings",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("usage_weight__gte", 0),
                    ("reclaim_delay_seconds__gte", 0),
                    ("reclaim_min_runtime_seconds__gte", 0),
                ),
                name="fair_share_settings_are_not_negative",
            ),
        ),
        migrations.AddConstraint(
            model_name="decayedusage",
            constraint=models.UniqueConstraint(
                fields=("pool", "team"), name="one_usage_per_pool_and_team"
            ),
        ),
        migrations.CreateModel(
            name="Secret",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "name",
                    models.CharField(
                        max_length=40,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$",
                                "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a letter.",
                            )
                        ],
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("environment", "environment: variables for the jobs that name it"),
                            ("registry", "registry: a login, for images of the team's jobs"),
                        ],
                        max_length=11,
                    ),
                ),
                (
                    "variables",
                    models.JSONField(default=list, help_text="Names of what it sets, in order."),
                ),
                (
                    "registry",
                    models.CharField(
                        blank=True, default="", help_text="Of a login.", max_length=255
                    ),
                ),
                ("sealed", models.TextField(editable=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("updated_by", models.CharField(max_length=150)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="secrets",
                        to="tenancy.team",
                    ),
                ),
            ],
            options={
                "ordering": ("team", "name"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "name"), name="secret_names_are_unique_per_team"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("registry", ""), _negated=True),
                        fields=("team", "registry"),
                        name="one_login_per_team_and_registry",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImageRule",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "pattern",
                    models.CharField(
                        help_text="Such as registry.example.com/vision/*; * stands for any characters.",
                        max_length=500,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "team",
                    models.ForeignKey(
                        blank=True,
                        help_text="Whose jobs, those of teams below it included. Empty: everybody's.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="image_rules",
                        to="tenancy.team",
                    ),
                ),
            ],
            options={
                "ordering": ("pattern", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("team", "pattern"),
                        name="one_rule_of_a_pattern",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="team",
            name="max_queued_jobs",
            field=models.PositiveIntegerField(
                db_default=1000,
                default=1000,
                help_text="Most jobs that may wait, queued or paused; the next one is refused.",
                validators=[django.core.validators.MaxValueValidator(100000)],
            ),
        ),
        migrations.AddConstraint(
            model_name="fairsharesettings",
            constraint=models.CheckConstraint(
                condition=models.Q(("reclaim_seconds__gte", 5.0), ("reclaim_seconds__lte", 3600.0)),
                name="reclaim_seconds_are_within_bounds",
            ),
        ),
    ]
