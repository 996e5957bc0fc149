"""What does a list of data look like that jobs may name?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina.views.fitting import FittingTable
from concertina.words import size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import DataSource


def data_table(sources: Iterable[DataSource]) -> FittingTable:
    table = FittingTable("NAME", "KIND", "JOBS MAY", "TEAMS", "LIVE JOBS", "CACHED", "PLACE")
    for source in sources:
        table.add_row(
            source["name"],
            source["kind"],
            "write" if source["is_writable"] else "read",
            ", ".join(source["teams"]),
            str(source["jobs_count"]),
            size(source["cached_bytes"]) if source["url"] or source["digest"] else "",
            place_of(source),
        )
    return table


def place_of(source: DataSource) -> str:
    if source["digest"]:
        return f"version {source['digest'][:12]}"
    return source["path"] or source["url"] or f"outputs of {source['job']}"
