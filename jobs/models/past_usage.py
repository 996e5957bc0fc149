"""How much did jobs use that are not there any more?"""

from __future__ import annotations

from django.db import models


class PastUsage(models.Model):
    """The sum of a team's jobs that ended in one hour and were removed since.

    Names, not rows: it outlives the team and the pool.
    """

    hour = models.DateTimeField(help_text="In which they ended.")
    team = models.CharField(max_length=40)
    pool = models.CharField(max_length=40)
    jobs = models.PositiveIntegerField()
    gpu_seconds = models.FloatField()

    class Meta:
        ordering = ("hour", "team", "pool")
        constraints = (
            models.UniqueConstraint(
                fields=("hour", "team", "pool"), name="one_past_usage_of_an_hour"
            ),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool}, {self.hour:%Y-%m-%d %H h}: {self.gpu_seconds:.0f} s"
