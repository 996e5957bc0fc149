"""Has this very request been made before?"""

from __future__ import annotations

from django.db import models

from jobs.models.job import Job


class IdempotencyKey(models.Model):
    """Remembers for 24 h which jobs a submit's `Idempotency-Key` made."""

    team = models.ForeignKey(
        "tenancy.Team", on_delete=models.CASCADE, related_name="+", db_index=False
    )
    key = models.CharField(max_length=200)
    body_digest = models.CharField(max_length=64)
    job = models.ForeignKey(
        Job,
        null=True,
        on_delete=models.CASCADE,
        related_name="+",
        help_text="Null: a bulk.",
        db_index=False,
    )
    made = models.JSONField(
        default=list, db_default=[], help_text="Of a bulk: id and name of each job, in its order."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = (models.Index(fields=("job",), name="keys_of_a_job"),)
        constraints = (
            models.UniqueConstraint(fields=("team", "key"), name="one_job_per_idempotency_key"),
        )

    def __str__(self) -> str:
        return self.key
