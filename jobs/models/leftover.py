"""Which files of jobs are still to be removed?"""

from __future__ import annotations

from django.db import models
from django.utils import timezone


class Leftover(models.Model):
    """A folder of a job that nobody needs any more; the job itself may be gone already.

    Only the control loop may write to the state folder, so others leave their wish here.
    """

    class Part(models.TextChoices):
        FILES = "files", "files: checkpoints, and what it worked with"
        LOGS = "logs", "logs: what its processes wrote"

    job_id = models.CharField(max_length=12)
    part = models.CharField(max_length=5, choices=Part)
    due_at = models.DateTimeField(default=timezone.now, help_text="Later, where a try failed.")

    class Meta:
        ordering = ("due_at", "id")
        constraints = (
            models.UniqueConstraint(fields=("job_id", "part"), name="a_leftover_is_known_once"),
        )

    def __str__(self) -> str:
        return f"{self.part} of {self.job_id}"
