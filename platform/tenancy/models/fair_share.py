"""How are idle GPUs shared out, and how much did each team use lately?"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q

from autoscaler.planning.snapshot.vocabulary import RECLAIM_DELAY_SECONDS, ReclaimTarget
from tenancy.models.team import Team

SHORTEST_RECLAIM: Final = 5.0  # seconds: less is no time to write anything
LONGEST_RECLAIM: Final = 3600.0
RECLAIM_TARGETS: Final = (
    (ReclaimTarget.GUARANTEE.value, "guarantee: a team takes back its guarantee"),
    (ReclaimTarget.FAIR_SHARE.value, "fair share: it takes its share of what is idle, too"),
)


class FairShareSettings(models.Model):
    """How idle GPUs of a pool are shared out, and come back. Without a row: the defaults."""

    pool = models.OneToOneField(
        "cluster.Pool", on_delete=models.CASCADE, related_name="fair_share", primary_key=True
    )
    half_life_hours = models.FloatField(
        default=48.0,
        validators=[MinValueValidator(0.01)],
        help_text="After so many hours, usage of the past counts half.",
    )
    usage_weight = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="How much it counts against a team's weight. 0: not at all.",
    )
    reclaim_target = models.CharField(
        max_length=12,
        choices=RECLAIM_TARGETS,
        default=ReclaimTarget.GUARANTEE.value,
        help_text="How far a team with waiting work may take GPUs back from borrowers.",
    )
    reclaim_delay_seconds = models.FloatField(
        default=RECLAIM_DELAY_SECONDS,
        validators=[MinValueValidator(0.0)],
        help_text="A claim waits so long for GPUs that become free by themselves.",
    )
    reclaim_min_runtime_seconds = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="A borrower that runs for less is only shrunk for a claim, not paused.",
    )
    reclaim_seconds = models.FloatField(
        default=60.0,
        db_default=60.0,
        validators=[MinValueValidator(SHORTEST_RECLAIM), MaxValueValidator(LONGEST_RECLAIM)],
        help_text="What is taken back for another team's guarantee is free after so long: caps"
        " the grace_period and registration_timeout of borrowers.",
    )

    class Meta:
        verbose_name_plural = "fair share settings"
        constraints = (
            models.CheckConstraint(
                condition=Q(half_life_hours__gt=0), name="half_life_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(usage_weight__gte=0)
                & Q(reclaim_delay_seconds__gte=0)
                & Q(reclaim_min_runtime_seconds__gte=0),
                name="fair_share_settings_are_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(
                    reclaim_seconds__gte=SHORTEST_RECLAIM, reclaim_seconds__lte=LONGEST_RECLAIM
                ),
                name="reclaim_seconds_are_within_bounds",
            ),
        )

    def __str__(self) -> str:
        return f"fair share of {self.pool_id}"

    @classmethod
    def by_pool(cls) -> defaultdict[int, FairShareSettings]:
        """Return the settings of each pool by its id, the defaults for one without a row."""
        return defaultdict(cls, {row.pool_id: row for row in cls.objects.all()})

    @classmethod
    def half_lives(cls) -> defaultdict[int, float]:
        """Return the half-lives in seconds, by pool id."""
        rows = cls.objects.values_list("pool_id", "half_life_hours")
        return defaultdict(
            lambda: 3600 * cls().half_life_hours, {pool: 3600 * hours for pool, hours in rows}
        )


class DecayedUsage(models.Model):
    """A team's GPU-seconds in a pool at one moment, those of the past halved every half-life."""

    pool = models.ForeignKey("cluster.Pool", on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    gpu_seconds = models.FloatField(default=0.0)
    at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("pool", "team"), name="one_usage_per_pool_and_team"),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool}: {self.gpu_seconds:.0f} GPU-seconds"
