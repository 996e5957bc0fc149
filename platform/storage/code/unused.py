"""When does a snapshot of code go? When no job refers to it, and none did for a day."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from storage.code.places import CodePlaces
from storage.code.uploads import remove_given_up
from storage.models import CodeSnapshot

KEPT_UNUSED: Final = timedelta(days=1)  # for whoever uploads first and submits later
MOST_AT_ONCE: Final = 100
_STRANGE_SECONDS: Final = 3600.0  # a folder without a row is being put into place for a moment

Unused = Callable[[QuerySet[CodeSnapshot]], QuerySet[CodeSnapshot]]
"""Given snapshots, returns those that no job refers to."""

Discard = Callable[[Path], None]
"""Given a folder of any size, which is not there any more when it returns."""

_log = logging.getLogger(__name__)


def remove_unused(places: CodePlaces, unused: Unused, discard: Discard) -> int:
    """Forget what no job refers to, remove what the database does not know; return how many went.

    It may be cut off anywhere: what is left goes the next time.
    """
    with transaction.atomic():
        # A job that is being submitted holds the row of its snapshot, and makes it young again.
        old = CodeSnapshot.objects.filter(used_at__lt=timezone.now() - KEPT_UNUSED)
        held = unused(old).select_for_update(skip_locked=True, of=("self",))
        due = list(held.values_list("pk", flat=True)[:MOST_AT_ONCE])
        count, _ = CodeSnapshot.objects.filter(pk__in=due).delete()
    for team_id in places.teams():
        try:
            remove_given_up(team_id, places)
            _remove_strange(team_id, places, discard)
        except OSError as problem:  # the next time, perhaps
            extra = {"action": "remove_code", "team": team_id}
            _log.warning("Code cannot be removed: %s", problem, extra=extra)
    return count


def _remove_strange(team_id: int, places: CodePlaces, discard: Discard) -> None:
    with places.locked(team_id):
        known = set(CodeSnapshot.objects.filter(team=team_id).values_list("digest", flat=True))
        before = time.time() - _STRANGE_SECONDS
        for path in places.uploads(team_id).parent.iterdir():
            digest = path.name.removesuffix(".tar.gz")
            if digest.startswith(".") or digest in known or path.stat().st_mtime > before:
                continue
            if path.is_dir():
                discard(path)
            else:
                path.unlink(missing_ok=True)
