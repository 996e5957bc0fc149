"""What GPUs cost."""

from __future__ import annotations

from decimal import Decimal

import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("gpu_accounts", "0003_team_days"),
    ]

    operations = [
        migrations.CreateModel(
            name="GpuPrice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("pool", models.CharField(help_text="The name of a pool.", max_length=40)),
                (
                    "since",
                    models.DateField(help_text="From this day of UTC on, until the next price's."),
                ),
                (
                    "per_gpu_hour",
                    models.DecimalField(
                        decimal_places=6,
                        max_digits=12,
                        validators=[django.core.validators.MinValueValidator(Decimal(0))],
                    ),
                ),
            ],
            options={
                "ordering": ("pool", "-since"),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("pool", "since"), name="one_price_per_pool_and_day"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("per_gpu_hour__gte", 0)), name="no_price_is_negative"
                    ),
                ],
            },
        ),
    ]
