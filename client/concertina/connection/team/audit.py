"""What can be asked about who did what? Entries of the audit log, which admins and leads read."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from concertina.connection import paging

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from concertina.connection.connection import Send
    from concertina.documents import AuditEntry

USUAL_ENTRIES = 50
MOST_ENTRIES = 100_000
_PAGE = 1000


class AuditFilters(TypedDict, total=False):
    """Which entries. `token` is an id or the beginning of a key, `target` such as teams/vision."""

    team: str | None
    sender: str | None
    token: str | None
    operation: str | None
    target: str | None
    outcome: str | None
    since: datetime | None
    until: datetime | None


class AuditLog:
    """Admins see all of it, leads what is about their teams; both as persons."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def read(
        self, *, most: int = USUAL_ENTRIES, **filters: Unpack[AuditFilters]
    ) -> Sequence[AuditEntry]:
        """Return the newest entries that fit, at most so many."""
        since, until = filters.get("since"), filters.get("until")
        asked: dict[str, Any] = {
            **{name: filters.get(name) for name in ("team", "sender", "token", "operation")},
            "object": filters.get("target"),
            "outcome": filters.get("outcome"),
            "since": since and since.isoformat(),
            "until": until and until.isoformat(),
        }
        found = paging.every(self._send, "/audit", limit=min(most, _PAGE), **asked)
        return cast("Sequence[AuditEntry]", list(islice(found, most)))
