from django.db import migrations, models


class Migration(migrations.Migration):
    """The column keeps its name, for processes of the version before; the field gets a new one."""

    dependencies = [
        ("cluster", "0013_unplanned_pools"),
    ]

    operations = [
        migrations.AlterField(
            model_name="node",
            name="docker_url",
            field=models.CharField(
                blank=True,
                db_column="docker_url",
                db_default="",
                default="",
                help_text="Where its worker host is reached. Empty: where this installation's settings say."
                " Nodes of the same URL are of one machine.",
                max_length=200,
                verbose_name="host URL",
            ),
        ),
        migrations.RenameField(model_name="node", old_name="docker_url", new_name="host_url"),
    ]
