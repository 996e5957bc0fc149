"""How were the GPUs of a pool used?"""

from __future__ import annotations

from django.db import models

from cluster.models.pool import Pool


class UtilisationSample(models.Model):
    """GPUs a team held in a pool at one moment; written every tick, for the utilisation chart."""

    at = models.DateTimeField()
    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="+", db_index=False)
    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="+")
    gpus = models.PositiveIntegerField()
    guaranteed_gpus = models.PositiveIntegerField()
    waiting_gpus = models.PositiveIntegerField(
        default=0, help_text="GPUs the team's waiting jobs asked for at least."
    )

    class Meta:
        indexes = (
            models.Index(fields=("pool", "at")),
            models.Index(fields=("at",)),  # every tick and every health check ask for the newest
        )

    def __str__(self) -> str:
        return f"{self.team}: {self.gpus} GPUs of {self.pool}"
