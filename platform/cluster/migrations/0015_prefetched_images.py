import django.core.validators
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """Table and columns stay for the former release; two of them are known to it only."""

    dependencies = [
        ("cluster", "0014_host_url"),
    ]

    operations = [
        migrations.AlterField(
            model_name="warmpool",
            name="size",
            field=models.PositiveSmallIntegerField(
                db_default=0, validators=[django.core.validators.MaxValueValidator(16)]
            ),
        ),
        migrations.AlterField(
            model_name="warmpool",
            name="observed",
            field=models.JSONField(blank=True, db_default={}, default=dict, editable=False),
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RemoveConstraint(model_name="warmpool", name="warm_pool_is_small"),
                migrations.RemoveField(model_name="warmpool", name="size"),
                migrations.RemoveField(model_name="warmpool", name="observed"),
            ]
        ),
        migrations.AlterModelTable(name="warmpool", table="cluster_warmpool"),
        migrations.RenameModel(old_name="WarmPool", new_name="PrefetchedImage"),
        migrations.AlterField(
            model_name="prefetchedimage",
            name="pool",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="prefetched_images",
                to="cluster.pool",
            ),
        ),
        migrations.AddField(
            model_name="prefetchedimage",
            name="notes",
            field=models.JSONField(
                blank=True,
                db_default={},
                default=dict,
                editable=False,
                help_text='What the control loop heard last, by node: {"node-1": ""}. Empty: it is there.',
            ),
        ),
    ]
