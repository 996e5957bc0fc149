"""What does the database know of what was fetched, and what goes when room is needed?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from storage.data.cache.paths import CachePaths
from storage.data.cache.room import CachedVersion, Key, room_for
from storage.data.fetcher.orders import Status
from storage.models import DataCopy, DataSource

USED_EVERY: Final = timedelta(minutes=10)  # a use is noted as often as that
MOST_LISTED: Final = 10  # versions of a source that are known and not here; guessed

_TAKES_ROOM: Final = (DataCopy.State.FETCHING, DataCopy.State.READY)

Discard = Callable[[Path], None]
"""Given a folder of any size, which is not there any more when it returns."""


class LargerThanCache(Exception):
    """It would not fit into the cache if that were empty."""


def note_listing(source: DataSource, status: Status, *, listed_at: datetime) -> DataCopy:
    """Keep what a look at a store has shown; the same again is the same version."""
    seen = {"listed_at": listed_at, "used_at": listed_at}
    copy, _ = DataCopy.objects.update_or_create(
        source=source,
        version=status.version,
        defaults={"listed_at": listed_at},
        create_defaults={**seen, "bytes": status.total_bytes, "objects_count": status.objects},
    )
    return copy


def forget_old_listings(source: DataSource, used: Collection[Key]) -> list[Key]:
    """Forget versions that were seen long ago, and that nobody has; return which."""
    listed = DataCopy.objects.filter(source=source, state=DataCopy.State.LISTED)
    old = [one for one in listed.order_by("-listed_at")[MOST_LISTED:] if key_of(one) not in used]
    DataCopy.objects.filter(pk__in=[one.pk for one in old]).delete()
    return [key_of(one) for one in old]


def make_room(copy: DataCopy, used: Collection[Key], *, most_bytes: int) -> list[Key] | None:
    """Keep room for a version; returns which others went for it, or None: there is none now.

    Raises:
        LargerThanCache: there never will be.
    """
    if copy.room_bytes > most_bytes:
        raise LargerThanCache
    others = DataCopy.objects.filter(state__in=_TAKES_ROOM).exclude(pk=copy.pk)
    held = [
        CachedVersion(
            key=key_of(one),
            bytes=one.room_bytes,
            used_at=one.used_at,
            is_used=key_of(one) in used,
        )
        for one in others
    ]
    going = room_for(copy.room_bytes, held, most_bytes)
    if going is None:
        return None
    DataCopy.objects.filter(pk__in=[one.pk for one in others if key_of(one) in going]).delete()
    DataCopy.objects.filter(pk=copy.pk).update(state=DataCopy.State.FETCHING)
    copy.state = DataCopy.State.FETCHING
    return going


def remove_files(key: Key, paths: CachePaths, discard: Discard) -> None:
    """Remove all that there is of a version; it may be little or nothing."""
    for folder in (paths.folder(*key), paths.part(*key)):
        if folder.is_dir():
            discard(folder)
    for file in paths.files_of(*key):
        file.unlink(missing_ok=True)


def remove_strange(paths: CachePaths, discard: Discard) -> None:
    """Remove what the database does not know: of deleted sources, and of versions that went."""
    for source_id in paths.sources():
        known = set(DataCopy.objects.filter(source=source_id).values_list("version", flat=True))
        folder = paths.of_source(source_id)
        if not known and not DataSource.objects.filter(pk=source_id).exists():
            discard(folder)
            continue
        found = {path.name.partition(".")[0] for path in folder.iterdir()}
        for version in found - known - {"newest"}:
            remove_files((source_id, version), paths, discard)


def key_of(copy: DataCopy) -> Key:
    return copy.source_id, copy.version
