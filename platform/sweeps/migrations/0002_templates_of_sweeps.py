from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="sweep",
            name="template",
            field=models.JSONField(
                db_default={},
                default=dict,
                help_text="With which template of which team it began, and which version; empty: none.",
            ),
        ),
        migrations.AlterField(
            model_name="sweep",
            name="spec",
            field=models.JSONField(
                help_text="As sent, with its team, its template and its team's defaults, without `sweep`."
            ),
        ),
    ]
