"""Which versions of a source are in the cache, or are to be?"""

from __future__ import annotations

from typing import Final

from django.db import models

_OF_AN_OBJECT: Final = 4096  # bytes that each takes on a disk, however small


class DataCopy(models.Model):
    """One version of a source, as its store showed it once."""

    class State(models.TextChoices):
        LISTED = "listed", "listed: known, and not here"
        FETCHING = "fetching", "fetching: on its way, with room kept for all of it"
        READY = "ready", "ready: here, whole and checked"

    source = models.ForeignKey(
        "storage.DataSource", on_delete=models.CASCADE, related_name="copies"
    )
    version = models.CharField(
        max_length=64, help_text="Digest of the names, sizes and versions of its objects."
    )
    state = models.CharField(max_length=8, choices=State, default=State.LISTED)
    bytes = models.BigIntegerField()
    objects_count = models.PositiveIntegerField()
    listed_at = models.DateTimeField(help_text="When its store was last seen to be like this.")
    used_at = models.DateTimeField(help_text="When a job used it last: the oldest goes first.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("source", "version"), name="one_copy_per_version"),
        )

    def __str__(self) -> str:
        return f"{self.version[:12]} ({self.state})"

    @property
    def room_bytes(self) -> int:
        """Return how much of the cache it takes at most, once it is there."""
        return self.bytes + _OF_AN_OBJECT * self.objects_count
