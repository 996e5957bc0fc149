from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0011_how_workers_failed"),
    ]

    operations = [
        migrations.AlterField(
            model_name="job",
            name="coordinator_term",
            field=models.PositiveIntegerField(
                default=0, help_text="Counts up with each coordinator that takes over."
            ),
        ),
    ]
