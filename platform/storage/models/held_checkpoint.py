"""Which checkpoints stay, whatever becomes of the jobs that wrote them?"""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class HeldCheckpoint(models.Model):
    """A checkpoint under a second name, for a job that starts from it, or for a model.

    The control loop makes it and takes it away: it alone writes to folders of jobs. See
    `storage.results.held`.
    """

    class State(models.TextChoices):
        WANTED = "wanted", "wanted: its files are where the job wrote them"
        HELD = "held", "held: its files have names of their own"
        LOST = "lost", "lost: its files were gone before they could be held"

    for_job = models.CharField(
        max_length=12, blank=True, help_text="That starts from it; empty: for a model."
    )
    source_job = models.CharField(
        max_length=12, blank=True, help_text="Which wrote it; empty: it is of another held one."
    )
    source_held = models.BigIntegerField(null=True, blank=True, help_text="Which of them.")
    step = models.BigIntegerField()
    names = models.JSONField(help_text="What each file is called here, by its name there.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of its weights.")
    state = models.CharField(max_length=6, choices=State, default=State.WANTED)
    due_at = models.DateTimeField(default=timezone.now, help_text="Later, where a try failed.")

    class Meta:
        ordering = ("due_at", "id")
        indexes = (
            models.Index(fields=("source_job", "state"), name="held_checkpoints_of_a_job"),
            models.Index(fields=("for_job",), name="held_checkpoints_for_a_job"),
            models.Index(fields=("state", "due_at"), name="held_checkpoints_that_are_due"),
        )

    def __str__(self) -> str:
        return f"step {self.step} of {self.source_job or f'held {self.source_held}'}"
