"""What did ticks write down about GPUs? A row for each change, until it is accounted for."""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q

from autoscaler.gpu_accounts.models.accounts import AccountedJob


class AccountsClock(models.Model):
    """The time of the recordings, which never goes back: an hour before it has all it will have."""

    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%dT%H:%M:%S}"


class RecordedSpan(models.Model):
    """What held from one moment on until another; without an end it still does."""

    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


class HeldSpan(RecordedSpan):
    """The GPUs of one job."""

    KEY: ClassVar = ("job_id",)
    VALUES: ClassVar = ("gpus", "starting_gpus", "priority", "generation")

    job = models.ForeignKey(AccountedJob, on_delete=models.CASCADE, db_index=False)
    gpus = models.PositiveIntegerField()
    starting_gpus = models.PositiveIntegerField(help_text="Whose worker does not train yet.")
    priority = models.PositiveSmallIntegerField()
    generation = models.PositiveIntegerField()
    stall_seconds = models.FloatField(
        default=0.0, db_default=0.0, help_text="From then on, in which nobody trained."
    )
    lost_gpu_seconds = models.FloatField(
        default=0.0, db_default=0.0, help_text="Training of earlier times, found to be lost then."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job",), condition=Q(until=None), name="held_now"),
        )
        indexes = (models.Index(fields=("until",), name="held_until"),)

    def __str__(self) -> str:
        return f"{self.gpus} GPUs of {self.job_id}"


class CapacitySpan(RecordedSpan):
    """The GPUs of a pool."""

    KEY: ClassVar = ("pool",)
    VALUES: ClassVar = ("gpus",)

    pool = models.CharField(max_length=40)
    gpus = models.PositiveIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("pool",), condition=Q(until=None), name="capacity_now"),
        )
        indexes = (models.Index(fields=("until",), name="capacity_until"),)

    def __str__(self) -> str:
        return f"{self.gpus} GPUs of {self.pool}"


class PromiseSpan(RecordedSpan):
    """What a team was promised of a pool, and which team was above it."""

    KEY: ClassVar = ("pool", "team")
    VALUES: ClassVar = ("parent", "guaranteed_gpus", "limit_gpus", "lending_limit_gpus")

    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40)
    parent = models.CharField(max_length=40, blank=True)
    guaranteed_gpus = models.PositiveIntegerField()
    limit_gpus = models.PositiveIntegerField(null=True, blank=True)
    lending_limit_gpus = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("pool", "team"), condition=Q(until=None), name="promised_now"
            ),
        )
        indexes = (models.Index(fields=("until",), name="promised_until"),)

    def __str__(self) -> str:
        return f"{self.guaranteed_gpus} GPUs of {self.pool} for {self.team}"


class UnseenSpan(RecordedSpan):
    """A time in which no tick looked: changes were recorded late, at its end."""

    class Meta:
        indexes = (models.Index(fields=("until",), name="unseen_until"),)

    def __str__(self) -> str:
        return f"{self.since} until {self.until}"
