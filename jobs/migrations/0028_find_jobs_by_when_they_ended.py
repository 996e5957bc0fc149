from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0027_fill_what_events_told")]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["state_since"], name="jobs_job_state_s_94b097_idx"),
        ),
    ]
