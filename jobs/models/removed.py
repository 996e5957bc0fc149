"""What is left of jobs that were removed? Files to be removed as well, and their GPU time."""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Leftover(models.Model):
    """A folder of a job that nobody needs any more; the job itself may be gone already.

    Only the control loop may write to the state folder, so others leave their wish here.
    """

    class Part(models.TextChoices):
        FILES = "files", "files: all but the logs"
        WORK = "work", "work: checkpoints, and what it worked with"
        OUTPUTS = "outputs", "outputs: what it handed over"
        LOGS = "logs", "logs: what its processes wrote"

    job_id = models.CharField(max_length=12)
    part = models.CharField(max_length=10, choices=Part)
    due_at = models.DateTimeField(default=timezone.now, help_text="Later, where a try failed.")

    class Meta:
        ordering = ("due_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("job_id", "part"), name="a_leftover_is_known_once"),
        )

    def __str__(self) -> str:
        return f"{self.part} of {self.job_id}"


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
