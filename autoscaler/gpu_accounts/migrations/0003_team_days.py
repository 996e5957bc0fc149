"""Sums of days by team, also of the days that have accounts already."""

from __future__ import annotations

from django.db import migrations, models

_ADD_UP = """
    INSERT INTO gpu_accounts_teamday (
        day, pool, team, guaranteed, borrowed, lent, reserved, idle, starting, stalled, lost
    )
    SELECT day, pool, team, sum(guaranteed), sum(borrowed), sum(lent), sum(reserved), sum(idle),
        sum(starting), sum(stalled), sum(lost)
    FROM gpu_accounts_dayline JOIN gpu_accounts_accountowner AS owner ON owner.id = owner_id
    GROUP BY day, pool, team
"""


class Migration(migrations.Migration):
    dependencies = [
        ("gpu_accounts", "0002_costs_of_all_switches"),
    ]

    operations = [
        migrations.CreateModel(
            name="TeamDay",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("guaranteed", models.BigIntegerField(default=0)),
                ("borrowed", models.BigIntegerField(default=0)),
                (
                    "lent",
                    models.BigIntegerField(
                        default=0, help_text="What others borrowed of the team's."
                    ),
                ),
                ("reserved", models.BigIntegerField(default=0, help_text="Idle, and never lent.")),
                ("idle", models.BigIntegerField(default=0)),
                ("starting", models.BigIntegerField(default=0, help_text="Of what was held.")),
                ("stalled", models.BigIntegerField(default=0, help_text="Of what was held.")),
                ("day", models.DateField()),
                ("pool", models.CharField(max_length=40)),
                (
                    "team",
                    models.CharField(
                        blank=True, help_text="Empty: promised to nobody.", max_length=40
                    ),
                ),
                ("lost", models.DecimalField(decimal_places=0, default=0, max_digits=30)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "pool", "team"), name="one_sum_per_day_and_team"
                    )
                ],
            },
        ),
        migrations.RunSQL(_ADD_UP, migrations.RunSQL.noop),
    ]
