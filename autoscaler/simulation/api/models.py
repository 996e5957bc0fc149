"""A simulation that somebody asked for: what of, how far it is, and what came out."""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.db import models
from django.db.models import Q

from jobs.models import new_id


class Simulation(models.Model):
    """One request. `attempt` counts the workers that took it up; only the newest may write."""

    class State(models.TextChoices):
        """How far it is; the last three are final."""

        QUEUED = "queued", "queued: waits for the background worker"
        RUNNING = "running", "running: a worker simulates"
        COMPLETED = "completed", "completed: the result is stored"
        FAILED = "failed", "failed: `error` says why"
        CANCELLED = "cancelled", "cancelled: by whoever asked for it, or an admin"

    class Kind(models.TextChoices):
        """What is asked."""

        WORKLOAD = "workload", "workload: which policy or cluster serves it best"
        QUOTA_PREVIEW = "quota_preview", "quota preview: what other quotas would have meant"
        QUOTA_PRICE = "quota_price", "quota price: what a GPU more or less is worth to a team"

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    title = models.CharField(max_length=120)
    request = models.JSONField(help_text="The checked body of the request.")
    kind = models.CharField(
        max_length=16, choices=Kind, default=Kind.WORKLOAD, db_default=Kind.WORKLOAD
    )
    digest = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Of a preview: what is asked, of which cluster. Empty: never asked alike.",
    )
    requested_by = models.CharField(max_length=150, help_text="Their name then.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Who asked for it, whatever their name is now. Empty: nobody who is still here.",
    )
    requested_at = models.DateTimeField(auto_now_add=True)

    state = models.CharField(max_length=10, choices=State, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When its worker last gave a sign of life."
    )
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    progress = models.FloatField(default=0.0, help_text="Share of all simulated jobs that ended.")
    error = models.TextField(default="", blank=True)
    result = models.JSONField(null=True, blank=True, help_text="Figures of every run.")

    class Meta:
        ordering = ("-requested_at", "id")
        indexes = (
            models.Index(fields=("state",)),
            models.Index(fields=("-requested_at",)),
            models.Index(fields=("digest",), condition=~Q(digest=""), name="asked_alike"),
        )
        constraints = (
            models.CheckConstraint(
                condition=Q(progress__gte=0) & Q(progress__lte=1), name="progress_is_a_share"
            ),
            models.CheckConstraint(
                condition=~Q(state="completed") | Q(result__isnull=False),
                name="a_completed_simulation_has_a_result",
            ),
            models.UniqueConstraint(
                fields=("state",),
                condition=Q(state="running"),
                name="one_simulation_runs_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.title} ({self.id})"


class Report(models.Model):
    """The HTML page of a completed simulation; apart, because it is large and seldom read."""

    simulation = models.OneToOneField(Simulation, on_delete=models.CASCADE, related_name="report")
    html = models.TextField()

    def __str__(self) -> str:
        return f"report of {self.simulation_id}"


class BaseRun(models.Model):
    """The recent past, replayed on the cluster as it is: what previews are compared with."""

    digest = models.CharField(
        primary_key=True, max_length=64, help_text="Of the cluster, and of how far back it goes."
    )
    made_at = models.DateTimeField(help_text="The history goes up to then.")
    trace = models.TextField(help_text="The history, in our own format for traces.")
    outcome = models.JSONField(help_text="How each team fared.")

    def __str__(self) -> str:
        return f"the past until {self.made_at:%F %T}"


LIVE: Final = frozenset({Simulation.State.QUEUED, Simulation.State.RUNNING})
