import django.core.validators
import django.db.models.deletion
from django.db import migrations, models

import cluster.models.all_reduce


class Migration(migrations.Migration):
    replaces = [
        ("cluster", "0002_initial"),
        ("cluster", "0003_draining_nodes"),
        ("cluster", "0004_pool_policies"),
        ("cluster", "0005_all_reduce_times"),
        ("cluster", "0006_gpu_uuids"),
        ("cluster", "0007_warm_pools"),
        ("cluster", "0008_docker_url"),
        ("cluster", "0009_silent_nodes"),
        ("cluster", "0010_service_url"),
        ("cluster", "0011_defaults_of_the_database"),
        ("cluster", "0012_machines_of_nodes"),
        ("cluster", "0013_unplanned_pools"),
        ("cluster", "0014_host_url"),
        ("cluster", "0015_prefetched_images"),
    ]

    dependencies = [
        ("cluster", "0001_initial"),
        ("tenancy", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="utilisationsample",
            name="team",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="+", to="tenancy.team"
            ),
        ),
        migrations.AddConstraint(
            model_name="node",
            constraint=models.CheckConstraint(
                condition=models.Q(("gpus__gte", 1)), name="node_has_a_gpu"
            ),
        ),
        migrations.AddIndex(
            model_name="utilisationsample",
            index=models.Index(fields=["pool", "at"], name="cluster_uti_pool_id_d2d857_idx"),
        ),
        migrations.AddIndex(
            model_name="utilisationsample",
            index=models.Index(fields=["at"], name="cluster_uti_at_b7b81f_idx"),
        ),
        migrations.CreateModel(
            name="NodeChange",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(auto_now_add=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("joined", "joined: new in its pool"),
                            ("lost", "lost: removed from its pool"),
                            ("cordoned", "cordoned: takes no new work"),
                            ("draining", "draining: its jobs move away"),
                            ("uncordoned", "uncordoned: takes work again"),
                            ("silent", "silent: does not answer, takes no new work"),
                            (
                                "answering",
                                "answering: nothing unwanted runs there, takes work again",
                            ),
                        ],
                        max_length=10,
                    ),
                ),
                ("pool", models.CharField(max_length=40)),
                ("node", models.CharField(max_length=80)),
            ],
            options={
                "ordering": ("at", "id"),
            },
        ),
        migrations.AddField(
            model_name="node",
            name="is_draining",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="On, for a cordoned node: running jobs move away from it.",
            ),
        ),
        migrations.AddConstraint(
            model_name="node",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("is_draining", False), ("is_schedulable", False), _connector="OR"
                ),
                name="a_draining_node_takes_no_work",
            ),
        ),
        migrations.AddIndex(
            model_name="nodechange",
            index=models.Index(fields=["at"], name="cluster_nod_at_bfe519_idx"),
        ),
        migrations.AddField(
            model_name="pool",
            name="admission",
            field=models.CharField(
                choices=[
                    ("queueing", "queueing: a new job that does not fit waits"),
                    ("dropping", "dropping: it is refused for good"),
                ],
                db_default="queueing",
                default="queueing",
                help_text="What becomes of a new job that does not fit beside the smallest sizes of all others.",
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="dollars_per_gpu_hour",
            field=models.FloatField(
                db_default=0.0,
                default=0.0,
                help_text="What policies about money reckon with.",
                validators=[django.core.validators.MinValueValidator(0.0)],
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="policy_options",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                help_text="What differs from the policy's defaults.",
            ),
        ),
        migrations.AlterField(
            model_name="pool",
            name="policy",
            field=models.CharField(
                default="completion_time",
                help_text="What the planner makes the most of: a policy of this installation.",
                max_length=40,
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="all_reduce",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text='Measured times of an all-reduce, to foresee how new jobs scale: a list of {"bytes": 100000000, "workers": 4, "crosses_nodes": false, "seconds": 0.012}. Empty: guessed from the size of a job\'s model.',
                validators=[cluster.models.all_reduce.validate_all_reduce],
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="silent_since",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="Since then it does not answer and takes no new work; empty: it answers.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="service_url",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Where jobs' coordinators on this node reach the api, such as https://concertina.example.com. Empty: where this installation's settings say.",
                max_length=200,
                verbose_name="service URL",
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="gpu_uuids",
            field=models.JSONField(
                blank=True,
                db_default=[],
                default=list,
                help_text="By index, as `nvidia-smi -L` lists them; one may stand for several GPUs, which then share it. Empty: processes are given GPUs by their numbers.",
                verbose_name="GPU UUIDs",
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="silent_reason",
            field=models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=300
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="complaints",
            field=models.TextField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                help_text="What is too old there, and why that matters; a line each.",
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="cpus",
            field=models.PositiveIntegerField(
                blank=True, editable=False, help_text="Of its machine; empty: not known.", null=True
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="memory_bytes",
            field=models.BigIntegerField(
                blank=True, editable=False, help_text="Of its machine; empty: not known.", null=True
            ),
        ),
        migrations.AddField(
            model_name="pool",
            name="unplanned_because",
            field=models.TextField(blank=True, db_default="", default="", editable=False),
        ),
        migrations.AddField(
            model_name="pool",
            name="unplanned_since",
            field=models.DateTimeField(
                blank=True,
                editable=False,
                help_text="No plan of it was sound since then.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="node",
            name="host_url",
            field=models.CharField(
                blank=True,
                db_column="docker_url",
                db_default="",
                default="",
                help_text="Where its worker host is reached. Empty: where this installation's settings say. Nodes of the same URL are of one machine.",
                max_length=200,
                verbose_name="host URL",
            ),
        ),
        migrations.CreateModel(
            name="PrefetchedImage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "image",
                    models.CharField(
                        blank=True,
                        default="",
                        help_text="Blank: the platform's worker image.",
                        max_length=255,
                    ),
                ),
                (
                    "size",
                    models.PositiveSmallIntegerField(
                        db_default=0, validators=[django.core.validators.MaxValueValidator(16)]
                    ),
                ),
                (
                    "observed",
                    models.JSONField(blank=True, db_default={}, default=dict, editable=False),
                ),
                (
                    "pool",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prefetched_images",
                        to="cluster.pool",
                    ),
                ),
                (
                    "notes",
                    models.JSONField(
                        blank=True,
                        db_default={},
                        default=dict,
                        editable=False,
                        help_text='What the control loop heard last, by node: {"node-1": ""}. Empty: it is there.',
                    ),
                ),
            ],
            options={
                "db_table": "cluster_warmpool",
                "ordering": ("pool__name", "image"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("pool", "image"), name="one_warm_pool_of_an_image"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("size__lte", 16)), name="warm_pool_is_small"
                    ),
                ],
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(
                    model_name="prefetchedimage",
                    name="warm_pool_is_small",
                ),
                migrations.RemoveField(
                    model_name="prefetchedimage",
                    name="size",
                ),
                migrations.RemoveField(
                    model_name="prefetchedimage",
                    name="observed",
                ),
            ],
        ),
    ]
