"""For how long and how much of jobs is kept, and what of a job goes when?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import RenderableType

    from concertina.documents import JobRemovals, KeptPart, TeamStorage


def rules_table(parts: Iterable[KeptPart]) -> FittingTable:
    table = FittingTable("PART", "KEPT", "CHOSEN", "USUAL", "AT LEAST", "AT MOST")
    for part in parts:
        table.add_row(
            part["part"],
            days(part["kept_days"]),
            days(part["days"]),
            days(part["default_days"]),
            days(part["least_days"]),
            days(part["most_days"]),
        )
    return table


def storage_view(storage: TeamStorage) -> RenderableType:
    """Say how much it is, then which jobs keep most; what to do comes last."""
    used, most = words.size(storage["used_bytes"]), words.size(storage["most_bytes"])
    table = FittingTable("JOB", "STATE", "KEEPS", "ENDED", "NAME")
    for job in storage["jobs"]:
        table.add_row(
            job["id"],
            f"{job['state']}, pinned" if job["is_pinned"] else job["state"],
            words.size(job["bytes"]),
            _day(job["finished_at"]) or words.NOTHING,
            job["name"],
        )
    parts: list[RenderableType] = [Text(f"{used} of {most} are taken.")]
    if storage["jobs"]:
        parts.append(table)
    if storage["message"]:
        parts.append(Text(storage["message"], style="bold red" if storage["is_full"] else ""))
    return Group(*parts)


def days(count: int | None) -> str:
    """`1 day`, `30 days`, `for ever`."""
    if count is None:
        return words.NOTHING
    return f"{count} day{'' if count == 1 else 's'}" if count else "for ever"


def removals_text(removals: JobRemovals) -> str:
    """Return `logs until 2027-02-23, all until 2028-11-24`; what goes with the job is left out."""
    if removals["is_pinned"]:
        return "for ever: it is pinned"
    items = {item["part"]: item for item in removals["items"]}
    whole = items.pop("job", None)
    end = whole["due_at"] if whole else None
    rows = [
        f"{part} gone since {_day(item['removed_at'])}"
        if item["removed_at"]
        else f"{part} until {_day(item['due_at'])}"
        for part, item in items.items()
        if item["removed_at"] or (item["due_at"] and item["due_at"] != end)
    ]
    return ", ".join([*rows, *([f"all until {_day(end)}"] if end else [])])


def _day(moment: str | None) -> str:
    return (moment or "")[:10]
