from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("what_if", "0003_simulations_have_owners"),
    ]

    operations = [
        migrations.CreateModel(
            name="BaseRun",
            fields=[
                (
                    "digest",
                    models.CharField(
                        help_text="Of the cluster, and of how far back it goes.",
                        max_length=64,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("made_at", models.DateTimeField(help_text="The history goes up to then.")),
                ("trace", models.TextField(help_text="The history, in our own format for traces.")),
                ("outcome", models.JSONField(help_text="How each team fared.")),
            ],
        ),
        migrations.AddField(
            model_name="simulation",
            name="digest",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                help_text="Of a preview: what is asked, of which cluster. Empty: never asked alike.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="simulation",
            name="kind",
            field=models.CharField(
                choices=[
                    ("workload", "workload: which policy or cluster serves it best"),
                    ("quota_preview", "quota preview: what other quotas would have meant"),
                ],
                db_default="workload",
                default="workload",
                max_length=16,
            ),
        ),
        migrations.AddIndex(
            model_name="simulation",
            index=models.Index(
                condition=models.Q(("digest", ""), _negated=True),
                fields=["digest"],
                name="asked_alike",
            ),
        ),
    ]
