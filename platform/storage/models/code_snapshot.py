"""Which folders of code does a team keep?"""

from __future__ import annotations

from django.db import models


class CodeSnapshot(models.Model):
    """A folder of code as it was packed once; its digest is that of its content."""

    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="snapshots")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the archive, in hexadecimal.")
    files = models.PositiveIntegerField()
    bytes = models.BigIntegerField(help_text="Of its files, unpacked.")
    kept_bytes = models.BigIntegerField(
        db_default=0,
        help_text="On the disk, with the archive and a block for each file and folder; 0 of what"
        " an earlier release took in.",
    )
    created_by = models.CharField(max_length=150)
    created_at = models.DateTimeField(auto_now_add=True)
    used_at = models.DateTimeField(help_text="When it came, or a job was last submitted with it.")

    class Meta:
        ordering = ("-created_at", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "digest"), name="snapshots_are_unique_per_team"
            ),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.digest[:12]} ({self.files} files)"
