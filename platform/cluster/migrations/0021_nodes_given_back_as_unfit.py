from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("cluster", "0020_asking_for_machines"),
    ]

    operations = [
        migrations.AddField(
            model_name="node",
            name="is_unfit",
            field=models.BooleanField(
                db_default=False,
                default=False,
                editable=False,
                help_text="On, for a node that is being given back: it took no work for long.",
            ),
        ),
    ]
