"""Which folders of data has a team uploaded?"""

from __future__ import annotations

from django.db import models

from storage.models.snapshot import Snapshot


class DataSnapshot(Snapshot):
    """A folder of data; its digest is that of the manifest, which names all of its bytes."""

    class Meta(Snapshot.Meta):
        constraints = (
            models.UniqueConstraint(
                fields=("team", "digest"), name="data_snapshots_are_unique_per_team"
            ),
        )
