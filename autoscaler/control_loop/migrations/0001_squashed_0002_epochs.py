from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [("control_loop", "0001_initial"), ("control_loop", "0002_epochs")]

    initial = True

    dependencies = []

    operations = [
        migrations.CreateModel(
            name="Lease",
            fields=[
                ("name", models.CharField(max_length=40, primary_key=True, serialize=False)),
                ("holder", models.CharField(max_length=80)),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("expires_at", models.DateTimeField()),
                (
                    "turn",
                    models.BigIntegerField(db_default=0, default=0, help_text="Counts ticks."),
                ),
                (
                    "epoch",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="When the database was restored last; 0: never.",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Tick",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("fence", models.PositiveBigIntegerField()),
                ("observe_seconds", models.FloatField()),
                ("plan_seconds", models.FloatField()),
                ("apply_seconds", models.FloatField()),
                (
                    "pools",
                    models.JSONField(default=list, help_text="Value, bound, gap, price per pool."),
                ),
                (
                    "decisions",
                    models.JSONField(default=list, help_text="Those that changed something."),
                ),
                (
                    "alarm",
                    models.TextField(
                        blank=True, default="", help_text="Invariants the plan broke."
                    ),
                ),
            ],
            options={
                "ordering": ("-at",),
                "indexes": [models.Index(fields=["-at"], name="control_loo_at_667887_idx")],
            },
        ),
    ]
