"""Which jobs of a list are asked for, and how does a request say so?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime


class JobFilters(TypedDict, total=False):
    """What the jobs must have; `search` is part of a name or of a label's value, or an id.

    `labels` are `NAME=VALUE`, or `NAME` for any value. `order` is `submitted`, `finished`,
    which leaves out who has not ended, or `recent`, which begins with them; `since` and `until`
    bound the moment of the submission, or of the end.
    """

    states: Iterable[str]
    team: str | None
    pool: str | None
    user: str | None
    labels: Iterable[str]
    array: str | None  # its id or its name
    schedule: str | None  # its id or its name
    search: str | None
    since: datetime | None
    until: datetime | None
    order: str


def parameters(filters: JobFilters) -> dict[str, Any]:
    """Return the same as a request's parameters; None: left out."""
    since, until = filters.get("since"), filters.get("until")
    return {
        "state": ",".join(filters.get("states", ())) or None,
        "label": list(filters.get("labels", ())) or None,
        "since": since and since.isoformat(),
        "until": until and until.isoformat(),
        **{
            name: filters.get(name)
            for name in ("team", "pool", "user", "array", "schedule", "search", "order")
        },
    }
