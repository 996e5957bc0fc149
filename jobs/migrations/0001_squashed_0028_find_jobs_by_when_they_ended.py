import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models

import jobs.lifecycle
import jobs.models.job
import jobs.models.worker


class Migration(migrations.Migration):
    replaces = [
        ("jobs", "0001_initial"),
        ("jobs", "0002_explanation_for_admins"),
        ("jobs", "0003_predictions"),
        ("jobs", "0004_gpu_types_and_noise"),
        ("jobs", "0005_message_for_admins"),
        ("jobs", "0006_remedies"),
        ("jobs", "0007_costs_and_speeds"),
        ("jobs", "0008_batch_limits"),
        ("jobs", "0009_workers_given_up"),
        ("jobs", "0010_coordinator_terms"),
        ("jobs", "0011_how_workers_failed"),
        ("jobs", "0012_terms_of_all_coordinators"),
        ("jobs", "0013_defaults_of_the_database"),
        ("jobs", "0014_times_of_the_service"),
        ("jobs", "0015_jobs_in_quarantine"),
        ("jobs", "0016_epochs"),
        ("jobs", "0017_signs_of_life"),
        ("jobs", "0018_removal"),
        ("jobs", "0019_tokens_of_coordinators"),
        ("jobs", "0020_plain_scripts"),
        ("jobs", "0021_nodes_that_were_deleted"),
        ("jobs", "0022_script_warnings"),
        ("jobs", "0023_costs_of_restarts"),
        ("jobs", "0024_disk_usage"),
        ("jobs", "0025_columns_of_assignments"),
        ("jobs", "0026_what_events_told_as_columns"),
        ("jobs", "0027_fill_what_events_told"),
        ("jobs", "0028_find_jobs_by_when_they_ended"),
    ]

    initial = True

    dependencies = [
        ("cluster", "0015_prefetched_images"),
        ("tenancy", "0006_reclaim_in_the_pools_time"),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
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
                ("name", models.CharField(max_length=80)),
                ("spec", models.JSONField(help_text="As sent.")),
                ("resolved_spec", models.JSONField(help_text="With every default filled in.")),
                ("labels", models.JSONField(default=dict)),
                ("priority", models.PositiveSmallIntegerField(default=50)),
                ("submitted_by", models.CharField(max_length=150)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            (jobs.lifecycle.JobState["QUEUED"], jobs.lifecycle.JobState["QUEUED"]),
                            (
                                jobs.lifecycle.JobState["STARTING"],
                                jobs.lifecycle.JobState["STARTING"],
                            ),
                            (
                                jobs.lifecycle.JobState["RUNNING"],
                                jobs.lifecycle.JobState["RUNNING"],
                            ),
                            (
                                jobs.lifecycle.JobState["RESCALING"],
                                jobs.lifecycle.JobState["RESCALING"],
                            ),
                            (jobs.lifecycle.JobState["PAUSED"], jobs.lifecycle.JobState["PAUSED"]),
                            (
                                jobs.lifecycle.JobState["STOPPING"],
                                jobs.lifecycle.JobState["STOPPING"],
                            ),
                            (
                                jobs.lifecycle.JobState["COMPLETED"],
                                jobs.lifecycle.JobState["COMPLETED"],
                            ),
                            (jobs.lifecycle.JobState["FAILED"], jobs.lifecycle.JobState["FAILED"]),
                            (
                                jobs.lifecycle.JobState["CANCELLED"],
                                jobs.lifecycle.JobState["CANCELLED"],
                            ),
                        ],
                        default=jobs.lifecycle.JobState["QUEUED"],
                        max_length=10,
                    ),
                ),
                (
                    "state_since",
                    models.DateTimeField(
                        blank=True,
                        help_text="When it came into its state; null: when it was submitted.",
                        null=True,
                    ),
                ),
                ("reason", models.CharField(default="pending_evaluation", max_length=40)),
                ("message", models.TextField(blank=True, default="")),
                (
                    "explanation",
                    models.JSONField(
                        default=dict,
                        help_text="Newest decision, whole, as the job's team may read it.",
                    ),
                ),
                (
                    "explanation_for_admins",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="The same with other teams' names; empty: there are none in it.",
                    ),
                ),
                (
                    "prediction",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="Newest: made_at; start and finish as p10, p50, p90 or null.",
                    ),
                ),
                (
                    "remedy",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="What would start it: kind, numbers, message, found_at; or empty.",
                    ),
                ),
                ("ends_as", models.CharField(blank=True, default="", max_length=10)),
                (
                    "mode",
                    models.CharField(
                        choices=[
                            ("auto", "auto: hot when the script registers, else restart"),
                            ("hot", "hot: in process, without losing a step"),
                            (
                                "restart",
                                "restart: all workers end and start again from a checkpoint",
                            ),
                            ("fixed", "fixed: never"),
                        ],
                        default="auto",
                        max_length=8,
                    ),
                ),
                (
                    "group_seen_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its workers were first seen to form a group.",
                        null=True,
                    ),
                ),
                (
                    "attempt",
                    models.PositiveIntegerField(default=0, help_text="0 before the first start."),
                ),
                (
                    "failures",
                    models.PositiveIntegerField(default=0, help_text="Of the job's own code."),
                ),
                (
                    "losses",
                    models.PositiveIntegerField(default=0, help_text="Workers lost from outside."),
                ),
                (
                    "losses_in_a_row",
                    models.PositiveIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Of all its workers, without a sign of life between.",
                    ),
                ),
                (
                    "lost_at",
                    models.DateTimeField(
                        blank=True, help_text="When all its workers were lost last.", null=True
                    ),
                ),
                (
                    "progress_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="Newest sign that it gets anywhere: a step, or a line.",
                        null=True,
                    ),
                ),
                (
                    "silence_told_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its people were told that there is none.",
                        null=True,
                    ),
                ),
                (
                    "preparation_notice_revision",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The newest one of which people heard that it is prepared.",
                        null=True,
                    ),
                ),
                (
                    "disk_notice_start",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="The newest start in which they heard that its disk fills.",
                        null=True,
                    ),
                ),
                (
                    "error_notice_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When they heard last that a tick could not handle it.",
                        null=True,
                    ),
                ),
                (
                    "trained_at",
                    models.DateTimeField(
                        blank=True, help_text="When its last epoch was over.", null=True
                    ),
                ),
                (
                    "not_before",
                    models.DateTimeField(
                        blank=True, help_text="Back-off after a failure.", null=True
                    ),
                ),
                (
                    "generation",
                    models.PositiveIntegerField(default=0, help_text="Active one; 0: none yet."),
                ),
                (
                    "revision",
                    models.PositiveIntegerField(default=0, help_text="Newest assignment."),
                ),
                (
                    "starts",
                    models.PositiveIntegerField(
                        db_default=0,
                        default=0,
                        help_text="How often it came out of the queue; tells its checkpoints apart.",
                    ),
                ),
                (
                    "database_epoch",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Of the database, when it came out of the queue last: a restored one counts starts a second time.",
                    ),
                ),
                (
                    "coordinator_node",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Where it runs; empty: nowhere yet.",
                        max_length=80,
                    ),
                ),
                (
                    "coordinator_term",
                    models.PositiveIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Counts up with each coordinator that takes over.",
                    ),
                ),
                (
                    "coordinator_restarts",
                    models.PositiveIntegerField(
                        db_default=0, default=0, help_text="Since it came into its state."
                    ),
                ),
                (
                    "takes_workers_token",
                    models.BooleanField(
                        db_default=True,
                        default=False,
                        help_text="Its coordinator was started before coordinators had tokens of their own.",
                    ),
                ),
                ("coordinator_port", models.PositiveIntegerField(blank=True, null=True)),
                ("coordinator_seen_at", models.DateTimeField(blank=True, null=True)),
                ("submitted_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("last_rescaled_at", models.DateTimeField(blank=True, null=True)),
                ("rescales", models.PositiveIntegerField(default=0)),
                ("gpu_seconds", models.FloatField(default=0.0, help_text="GPU time held so far.")),
                ("samples", models.BigIntegerField(default=0)),
                ("total_samples", models.BigIntegerField(blank=True, null=True)),
                ("step", models.BigIntegerField(default=0)),
                ("epoch", models.FloatField(default=0.0)),
                ("samples_per_second", models.FloatField(default=0.0)),
                ("values", models.JSONField(default=dict, help_text="Newest logged metrics.")),
                ("model_bytes", models.BigIntegerField(default=0)),
                (
                    "noise_scale",
                    models.FloatField(
                        blank=True,
                        help_text="Gradient noise in samples, at the base batch.",
                        null=True,
                    ),
                ),
                (
                    "batch_limits",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="Samples that fit one worker at once, by GPU type, as found out.",
                    ),
                ),
                (
                    "disk_bytes",
                    models.BigIntegerField(
                        blank=True,
                        help_text="That its files take, as found last; null: not known.",
                        null=True,
                    ),
                ),
                (
                    "disk_files",
                    models.BigIntegerField(
                        blank=True, help_text="And folders that it has; null: not known.", null=True
                    ),
                ),
                (
                    "has_closed_folder",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Into which nobody can look to measure it.",
                    ),
                ),
                ("checkpoint_step", models.BigIntegerField(blank=True, null=True)),
                (
                    "warnings",
                    models.JSONField(
                        db_default=[],
                        default=list,
                        help_text="What in its script is to be looked at, in sentences, oldest first.",
                    ),
                ),
                (
                    "metric_points",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="How many were stored: no more than it had time to make.",
                    ),
                ),
                (
                    "planning_failures",
                    models.PositiveIntegerField(
                        db_default=0,
                        default=0,
                        help_text="How often it began to fail, each within a day.",
                    ),
                ),
                (
                    "planning_failed_at",
                    models.DateTimeField(
                        blank=True, help_text="When it began to fail last.", null=True
                    ),
                ),
                (
                    "is_pinned",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Nothing of it is removed for its age.",
                    ),
                ),
                ("curves_removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("history_removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("logs_removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("files_removed_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "pool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="cluster.pool",
                    ),
                ),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="jobs",
                        to="tenancy.team",
                    ),
                ),
            ],
            options={
                "ordering": ("-submitted_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="IdempotencyKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("body_digest", models.CharField(max_length=64)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "team",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenancy.team",
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Generation",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("attempt", models.PositiveIntegerField()),
                ("revision", models.PositiveIntegerField()),
                ("workers", models.PositiveIntegerField()),
                ("worker_ids", models.JSONField()),
                ("global_batch_size", models.PositiveIntegerField()),
                ("reason", models.CharField(max_length=40)),
                ("message", models.TextField(blank=True, default="")),
                (
                    "began_at",
                    models.DateTimeField(help_text="As reported, within what is possible."),
                ),
                (
                    "recorded_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the service was told, by its own clock.",
                    ),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "step",
                    models.BigIntegerField(default=0, help_text="Steps of the job before it."),
                ),
                (
                    "stall_seconds",
                    models.FloatField(default=0.0, help_text="Nobody trained, at the switch."),
                ),
                (
                    "transfer_seconds",
                    models.FloatField(
                        db_default=0.0,
                        default=0.0,
                        help_text="State was on its way to joiners, mostly while the others trained.",
                    ),
                ),
                (
                    "lost_steps",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Steps made before that are made again, from a checkpoint.",
                    ),
                ),
                (
                    "lost_work_seconds",
                    models.FloatField(
                        db_default=0.0, default=0.0, help_text="What those steps had taken."
                    ),
                ),
                (
                    "lost_worker_ids",
                    models.JSONField(
                        db_default=[], default=list, help_text="Whose loss led to it."
                    ),
                ),
                (
                    "restart_ordered_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When the workers of a script were to stop, or to start again; null: no restart.",
                        null=True,
                    ),
                ),
                (
                    "restart_look_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its log is next asked what the restart cost.",
                        null=True,
                    ),
                ),
                (
                    "restart_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="From then until a sign of work; null: not known.",
                        null=True,
                    ),
                ),
                (
                    "restart_sign",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "nothing yet"),
                            ("line", "line: they wrote something"),
                            ("iteration", "iteration: they wrote the number of a step or an epoch"),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "repeated_units",
                    models.FloatField(
                        blank=True, help_text="Made again, at least; null: not known.", null=True
                    ),
                ),
                (
                    "repeated_unit",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "not known"),
                            ("iteration", "iteration"),
                            ("epoch", "epoch"),
                            (
                                "count",
                                "count: of iterations or samples within an epoch, its script alone knows",
                            ),
                        ],
                        db_default="",
                        default="",
                        max_length=10,
                    ),
                ),
                (
                    "repeated_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="What that had taken, about; null: not known.",
                        null=True,
                    ),
                ),
                ("restart_message", models.TextField(blank=True, db_default="", default="")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="generations",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ("number",),
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("kind", models.CharField(max_length=40)),
                ("old_state", models.CharField(blank=True, default="", max_length=10)),
                ("new_state", models.CharField(blank=True, default="", max_length=10)),
                ("reason", models.CharField(blank=True, default="", max_length=40)),
                ("message", models.TextField(blank=True, default="")),
                ("data", models.JSONField(default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="jobs.job"
                    ),
                ),
            ],
            options={
                "ordering": ("at", "id"),
            },
        ),
        migrations.CreateModel(
            name="Assignment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("revision", models.PositiveIntegerField()),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("attempt", models.PositiveIntegerField()),
                ("worker_ids", models.JSONField(help_text="In rank order.")),
                ("global_batch_size", models.PositiveIntegerField()),
                ("reason", models.CharField(max_length=40)),
                ("message", models.TextField(blank=True, default="")),
                (
                    "message_for_admins",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="With other teams' names; empty: there are none in it.",
                    ),
                ),
                ("decision", models.JSONField(default=dict, help_text="The planner's numbers.")),
                (
                    "seats",
                    models.JSONField(
                        blank=True,
                        help_text="Node and GPUs of each worker that the plan adds; null: of the former release.",
                        null=True,
                    ),
                ),
                (
                    "rendezvous_port",
                    models.PositiveIntegerField(
                        blank=True, help_text="Where its workers meet by themselves.", null=True
                    ),
                ),
                (
                    "replaces",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="The worker that leaves for another one; empty: none does.",
                        max_length=40,
                    ),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ("revision",),
            },
        ),
        migrations.CreateModel(
            name="Leftover",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("job_id", models.CharField(max_length=12)),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("files", "files: checkpoints, and what it worked with"),
                            ("logs", "logs: what its processes wrote"),
                        ],
                        max_length=5,
                    ),
                ),
                (
                    "due_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, help_text="Later, where a try failed."
                    ),
                ),
            ],
            options={
                "ordering": ("due_at", "id"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("job_id", "part"), name="a_leftover_is_known_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "gpu_type",
                    models.CharField(
                        db_default="", default="", help_text="Of the pool it ran in.", max_length=40
                    ),
                ),
                ("workers", models.PositiveIntegerField()),
                ("nodes", models.PositiveIntegerField(default=1)),
                ("global_batch_size", models.PositiveIntegerField()),
                ("steps", models.PositiveIntegerField()),
                ("step_seconds", models.FloatField()),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="measurements",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="MetricPoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(help_text="As reported, within what is possible.")),
                (
                    "recorded_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the service was told, by its own clock.",
                    ),
                ),
                ("generation", models.PositiveIntegerField()),
                ("step", models.BigIntegerField()),
                ("epoch", models.FloatField()),
                ("samples", models.BigIntegerField()),
                ("samples_per_second", models.FloatField()),
                ("step_seconds", models.FloatField()),
                ("compute_seconds", models.FloatField()),
                ("communication_seconds", models.FloatField()),
                ("learning_rate", models.FloatField()),
                ("values", models.JSONField(default=dict)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metrics",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ("step", "generation"),
            },
        ),
        migrations.CreateModel(
            name="PastUsage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("hour", models.DateTimeField(help_text="In which they ended.")),
                ("team", models.CharField(max_length=40)),
                ("pool", models.CharField(max_length=40)),
                ("jobs", models.PositiveIntegerField()),
                ("gpu_seconds", models.FloatField()),
            ],
            options={
                "ordering": ("hour", "team", "pool"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("hour", "team", "pool"), name="one_past_usage_of_an_hour"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Prediction",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("start", "start: of its first worker"),
                            ("finish", "finish: completed"),
                        ],
                        max_length=6,
                    ),
                ),
                ("made_at", models.DateTimeField()),
                (
                    "p10",
                    models.DateTimeField(help_text="Null: later than was looked ahead.", null=True),
                ),
                ("p50", models.DateTimeField(null=True)),
                ("p90", models.DateTimeField(null=True)),
                ("happened_at", models.DateTimeField(blank=True, null=True)),
                (
                    "held",
                    models.BooleanField(help_text="It happened within p10 to p90.", null=True),
                ),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="predictions",
                        to="jobs.job",
                    ),
                ),
            ],
            options={
                "ordering": ("made_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="Quarantine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "part",
                    models.CharField(
                        choices=[
                            ("planning", "planning: no decision is made about it"),
                            ("prediction", "prediction: neither its start nor its end is foretold"),
                        ],
                        max_length=10,
                    ),
                ),
                ("failures", models.PositiveIntegerField(default=1, help_text="In a row.")),
                ("since", models.DateTimeField()),
                ("retry_at", models.DateTimeField()),
                ("error", models.TextField(help_text="As Python tells it: for admins.")),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="quarantines",
                        to="jobs.job",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("id", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("attempt", models.PositiveIntegerField()),
                (
                    "node_name",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Of one that was deleted.",
                        max_length=80,
                    ),
                ),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("starting", "starting: claims its GPUs; the worker host was asked"),
                            ("ready", "ready: registered and warm"),
                            ("training", "training: member of the active generation"),
                            ("leaving", "leaving: no longer wanted"),
                            ("gone", "gone: seen to have ended; its GPUs are free"),
                        ],
                        default="starting",
                        max_length=10,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("gone_at", models.DateTimeField(blank=True, null=True)),
                ("exit_code", models.IntegerField(blank=True, null=True)),
                (
                    "failing",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="What went wrong beside its own code, as the worker host calls it.",
                        max_length=20,
                    ),
                ),
                ("error", models.TextField(blank=True, default="")),
                (
                    "last_lines",
                    models.JSONField(
                        db_default=[],
                        default=list,
                        help_text="The end of its log, if its own code went wrong.",
                    ),
                ),
                (
                    "counted_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When its end was counted for its job; null: it was not.",
                        null=True,
                    ),
                ),
                (
                    "counted_revision",
                    models.PositiveIntegerField(
                        blank=True, help_text="The assignment that its job had then.", null=True
                    ),
                ),
                (
                    "silence_notice_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When people heard that its node does not answer.",
                        null=True,
                    ),
                ),
                (
                    "slowness_notice_at",
                    models.DateTimeField(
                        blank=True,
                        help_text="When people heard that its node slows workers down.",
                        null=True,
                    ),
                ),
                (
                    "is_given_up",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Stopped or hanging; the others train without it. It is killed.",
                    ),
                ),
                (
                    "compute_seconds",
                    models.FloatField(
                        blank=True,
                        help_text="Of its share of a step; waiting for others left out.",
                        null=True,
                    ),
                ),
                (
                    "samples_per_second",
                    models.FloatField(
                        blank=True, help_text="Of its own share, while it computes.", null=True
                    ),
                ),
                (
                    "relative_speed",
                    models.FloatField(
                        blank=True,
                        help_text="0.6: 40 % slower than the median of the job's workers.",
                        null=True,
                    ),
                ),
                (
                    "is_straggler",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        help_text="Slow for long enough to replace.",
                    ),
                ),
                (
                    "straggler_found_at",
                    models.DateTimeField(
                        blank=True, help_text="When it was found to be one last.", null=True
                    ),
                ),
                (
                    "straggler_gpus",
                    models.JSONField(
                        db_default=[],
                        default=list,
                        help_text="Indices of the GPUs that it had then.",
                    ),
                ),
                ("gpu_utilisation", models.FloatField(blank=True, help_text="0 to 1.", null=True)),
                (
                    "gpu_memory_bytes",
                    models.BigIntegerField(blank=True, help_text="In use.", null=True),
                ),
                ("gpu_memory_total_bytes", models.BigIntegerField(blank=True, null=True)),
                (
                    "job",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="workers",
                        to="jobs.job",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        null=True,
                        on_delete=jobs.models.worker.let_go_of_what_is_over,
                        related_name="+",
                        to="cluster.node",
                    ),
                ),
            ],
            options={
                "ordering": ("created_at", "id"),
            },
        ),
        migrations.CreateModel(
            name="GpuClaim",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("gpu_index", models.PositiveIntegerField()),
                (
                    "node",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="claims",
                        to="cluster.node",
                    ),
                ),
                (
                    "worker",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="jobs.worker",
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["state"], name="jobs_job_state_7f24c5_idx"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                fields=["team", "-submitted_at"], name="jobs_job_team_id_50a4ac_idx"
            ),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["finished_at"], name="jobs_job_finishe_66d2e7_idx"),
        ),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["state_since"], name="jobs_job_state_s_94b097_idx"),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    (
                        "state__in",
                        [
                            jobs.lifecycle.JobState["PAUSED"],
                            jobs.lifecycle.JobState["QUEUED"],
                            jobs.lifecycle.JobState["RESCALING"],
                            jobs.lifecycle.JobState["RUNNING"],
                            jobs.lifecycle.JobState["STARTING"],
                            jobs.lifecycle.JobState["STOPPING"],
                        ],
                    )
                ),
                fields=("team", "name"),
                name="live_job_names_are_unique_per_team",
            ),
        ),
        migrations.AddConstraint(
            model_name="job",
            constraint=models.CheckConstraint(
                condition=models.Q(("priority__lte", 100)), name="priority_is_0_to_100"
            ),
        ),
        migrations.AddConstraint(
            model_name="idempotencykey",
            constraint=models.UniqueConstraint(
                fields=("team", "key"), name="one_job_per_idempotency_key"
            ),
        ),
        migrations.AddIndex(
            model_name="generation",
            index=models.Index(
                condition=models.Q(("restart_look_at__isnull", False)),
                fields=["restart_look_at"],
                name="restarts_to_look_at",
            ),
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.UniqueConstraint(
                fields=("job", "number"), name="one_generation_per_number"
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["job", "id"], name="jobs_event_job_id_448544_idx"),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(fields=["at"], name="jobs_event_at_94ffb6_idx"),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.UniqueConstraint(
                fields=("job", "revision"), name="one_assignment_per_revision"
            ),
        ),
        migrations.AddConstraint(
            model_name="measurement",
            constraint=models.UniqueConstraint(
                fields=("job", "gpu_type", "workers", "nodes", "global_batch_size"),
                name="one_measurement_per_configuration",
            ),
        ),
        migrations.AddConstraint(
            model_name="measurement",
            constraint=models.CheckConstraint(
                condition=models.Q(("step_seconds__gt", 0), ("steps__gte", 1)),
                name="a_measurement_has_steps_and_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="metricpoint",
            constraint=models.UniqueConstraint(
                fields=("job", "generation", "step"), name="a_metric_is_stored_once"
            ),
        ),
        migrations.AddIndex(
            model_name="prediction",
            index=models.Index(
                fields=["job", "kind", "-made_at"], name="jobs_predic_job_id_cab0e3_idx"
            ),
        ),
        migrations.AddIndex(
            model_name="prediction",
            index=models.Index(fields=["happened_at"], name="jobs_predic_happene_22baba_idx"),
        ),
        migrations.AddConstraint(
            model_name="quarantine",
            constraint=models.UniqueConstraint(
                fields=("job", "part"), name="one_quarantine_per_job_and_part"
            ),
        ),
        migrations.AddIndex(
            model_name="worker",
            index=models.Index(
                condition=models.Q(("counted_at__isnull", False)),
                fields=["counted_at"],
                name="worker_counted_at",
            ),
        ),
        migrations.AddIndex(
            model_name="worker",
            index=models.Index(
                condition=models.Q(("straggler_found_at__isnull", False)),
                fields=["straggler_found_at"],
                name="worker_straggler_found_at",
            ),
        ),
        migrations.AddIndex(
            model_name="worker",
            index=models.Index(
                condition=models.Q(("slowness_notice_at__isnull", False)),
                fields=["slowness_notice_at"],
                name="worker_slowness_notice_at",
            ),
        ),
        migrations.AddConstraint(
            model_name="gpuclaim",
            constraint=models.UniqueConstraint(
                fields=("node", "gpu_index"), name="a_gpu_has_one_worker"
            ),
        ),
    ]
