"""What does an hour of a GPU cost?"""

from __future__ import annotations

from decimal import Decimal

from django.core.validators import MinValueValidator
from django.db import models


class GpuPrice(models.Model):
    """The price of a pool's GPUs from a day of UTC on, until the next one's day.

    In whichever currency; past reports stay as they were if a new price is added, not changed.
    """

    pool = models.CharField(max_length=40, help_text="The name of a pool.")
    since = models.DateField(help_text="From this day of UTC on, until the next price's.")
    per_gpu_hour = models.DecimalField(
        max_digits=12, decimal_places=6, validators=[MinValueValidator(Decimal(0))]
    )

    class Meta:
        ordering = ("pool", "-since")
        constraints = (
            models.UniqueConstraint(fields=("pool", "since"), name="one_price_per_pool_and_day"),
            models.CheckConstraint(
                condition=models.Q(per_gpu_hour__gte=0), name="no_price_is_negative"
            ),
        )

    def __str__(self) -> str:
        return f"{self.per_gpu_hour} in {self.pool} from {self.since} on"
