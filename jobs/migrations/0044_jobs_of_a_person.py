from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0043_when_data_is_there"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="job",
            index=models.Index(fields=["submitted_by", "-submitted_at"], name="jobs_of_a_person"),
        ),
    ]
