from django.db import migrations, models


class Migration(migrations.Migration):
    """Events that are there get position 0, which writes no row anew: they stay with their jobs."""

    dependencies = [
        ("jobs", "0045_jobs_of_an_account"),
    ]

    operations = [
        migrations.CreateModel(
            name="EventFeed",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("last_position", models.BigIntegerField()),
            ],
        ),
        migrations.AddField(
            model_name="event",
            name="position",
            field=models.BigIntegerField(
                db_default=0,
                editable=False,
                help_text="Its place among all events, given once it is committed; null: not yet.",
                null=True,
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="position",
            field=models.BigIntegerField(
                editable=False,
                help_text="Its place among all events, given once it is committed; null: not yet.",
                null=True,
            ),
        ),
        migrations.AddIndex(
            model_name="event",
            index=models.Index(
                condition=models.Q(("position", None)),
                fields=["id"],
                name="events_without_a_position",
            ),
        ),
        migrations.AddConstraint(
            model_name="event",
            constraint=models.UniqueConstraint(
                condition=models.Q(("position__gt", 0)),
                fields=("position",),
                name="one_event_at_each_position",
            ),
        ),
    ]
