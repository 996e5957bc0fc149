"""When does what was uploaded go? When nobody refers to it, and nobody did for a day."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from storage.models.snapshot import Snapshot
from storage.uploads.closed import remove
from storage.uploads.paths import UploadPaths
from storage.uploads.pieces import SUFFIX

KEPT_UNUSED: Final = timedelta(days=1)  # for whoever uploads first and submits later
MOST_AT_ONCE: Final = 100
GIVEN_UP_SECONDS: Final = 24 * 3600.0  # without another piece
_STRANGE_SECONDS: Final = 3600.0  # a folder without a row is being put into place for a moment

Row = TypeVar("Row", bound=Snapshot)
Unused = Callable[[QuerySet[Row]], QuerySet[Row]]
"""Given snapshots, returns those that nobody refers to."""

Discard = Callable[[Path], None]
"""Given a folder of any size, which is not there any more when it returns."""

_log = logging.getLogger(__name__)


def remove_unused(
    paths: UploadPaths, rows: QuerySet[Row], unused: Unused[Row], discard: Discard
) -> int:
    """Forget what nobody refers to, remove what the database does not know; return how many went.

    It may be cut off anywhere: what is left goes the next time.
    """
    with transaction.atomic():
        # Who refers to one anew holds its row, and makes it young again.
        old = rows.filter(used_at__lt=timezone.now() - KEPT_UNUSED)
        held = unused(old).select_for_update(skip_locked=True, of=("self",))
        due = list(held.values_list("pk", flat=True)[:MOST_AT_ONCE])
        count, _ = rows.filter(pk__in=due).delete()
    for team_id in paths.teams():
        try:
            _remove_given_up(team_id, paths)
            _remove_strange(team_id, paths, rows, discard)
        except OSError as problem:  # the next time, perhaps
            extra = {"action": "remove_uploads", "team": team_id}
            _log.warning("Uploads cannot be removed: %s", problem, extra=extra)
    return count


def _remove_given_up(team_id: int, paths: UploadPaths) -> None:
    """Remove uploads that nobody goes on with, and what an ended process left half made."""
    before = time.time() - GIVEN_UP_SECONDS
    for path in paths.uploads(team_id).iterdir():
        if path.stat().st_mtime < before:
            if path.is_dir():
                remove(path)
            elif path.suffix == SUFFIX:
                path.unlink(missing_ok=True)


def _remove_strange(
    team_id: int, paths: UploadPaths, rows: QuerySet[Row], discard: Discard
) -> None:
    with paths.locked(team_id):
        known = set(rows.filter(team=team_id).values_list("digest", flat=True))
        before = time.time() - _STRANGE_SECONDS
        for path in paths.of_team(team_id).iterdir():
            digest = path.name.removesuffix(".tar.gz")
            if digest.startswith(".") or digest in known or path.stat().st_mtime > before:
                continue
            if path.is_dir():
                discard(path)
            else:
                path.unlink(missing_ok=True)
