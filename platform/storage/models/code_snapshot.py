"""Which folders of code does a team keep?"""

from __future__ import annotations

from django.db import models

from storage.models.snapshot import Snapshot


class CodeSnapshot(Snapshot):
    """A folder of code as it was packed once."""

    team = models.ForeignKey("tenancy.Team", on_delete=models.CASCADE, related_name="snapshots")

    class Meta(Snapshot.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("team", "digest"), name="snapshots_are_unique_per_team"
            ),
        )
