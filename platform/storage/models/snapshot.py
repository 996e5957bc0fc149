"""What is known of everything that a team has uploaded?"""

from __future__ import annotations

from django.db import models


class Snapshot(models.Model):
    """A folder as it was uploaded once, known by a digest of its content."""

    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="+")
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
        abstract = True
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return f"{self.team_id}/{self.digest[:12]} ({self.files} files)"
