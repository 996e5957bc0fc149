"""How did a job go, moment by moment, and once that is some time ago?

Points of a stretch of time become one, in several widths. Their table has a partition for each
width, and these have one for each stretch of weeks, days or hours: see
`jobs.commands.removal.rollups`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from django.db import models
from django.db.models.functions import Now

from jobs.models.job import Job

RAW_FOR: Final = timedelta(hours=1)  # points stay as they came


@dataclass(frozen=True, slots=True, kw_only=True)
class Tier:
    """Stretches of one width."""

    width: int  # seconds
    kept: timedelta | None  # None: as long as the job's curves
    span: timedelta  # of a partition


TIERS: Final = (
    Tier(width=10, kept=timedelta(days=1), span=timedelta(hours=6)),
    Tier(width=60, kept=timedelta(days=7), span=timedelta(days=1)),
    Tier(width=600, kept=None, span=timedelta(days=30)),
)
FINEST_OF_ALL: Final = 60  # seconds of the widest stretches, in the first hour of a job
FIRST: Final = timedelta(hours=1)


class MetricPoint(models.Model):
    """Progress at one moment; `values` holds what the script logged."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="metrics", db_index=False)
    at = models.DateTimeField(help_text="As reported, within what is possible.")
    recorded_at = models.DateTimeField(
        db_default=Now(), help_text="When the service was told, by its own clock."
    )
    generation = models.PositiveIntegerField()
    step = models.BigIntegerField()
    epoch = models.FloatField()
    samples = models.BigIntegerField()
    samples_per_second = models.FloatField()
    step_seconds = models.FloatField()
    compute_seconds = models.FloatField()
    communication_seconds = models.FloatField()
    learning_rate = models.FloatField()
    values = models.JSONField(default=dict)

    class Meta:
        ordering = ("step", "generation")
        constraints = (
            models.UniqueConstraint(
                fields=("job", "generation", "step"), name="a_metric_is_stored_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.job_id} at step {self.step}"


class MetricRollup(models.Model):
    """Points of one generation in one stretch: the last of them, with means of what varies."""

    pk = models.CompositePrimaryKey("job_id", "generation", "bucket", "width")
    job = models.ForeignKey(
        Job, on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    generation = models.PositiveIntegerField()
    bucket = models.DateTimeField(help_text="When the stretch begins.")
    width = models.PositiveSmallIntegerField(
        help_text="Of the stretch in seconds; the widest are narrower in a job's first hour."
    )
    points = models.PositiveIntegerField(help_text="That it was made of.")
    first_at = models.DateTimeField()
    first_samples = models.BigIntegerField()
    at = models.DateTimeField(help_text="Of the last point, as all that is no mean.")
    step = models.BigIntegerField()
    epoch = models.FloatField()
    samples = models.BigIntegerField()
    learning_rate = models.FloatField()
    values = models.JSONField(default=dict)
    samples_per_second = models.FloatField(help_text="A mean, as those that follow.")
    step_seconds = models.FloatField()
    compute_seconds = models.FloatField()
    communication_seconds = models.FloatField()

    def __str__(self) -> str:
        return f"{self.job_id} up to step {self.step}"
