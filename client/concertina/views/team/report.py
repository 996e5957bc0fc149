"""What does the report of a month look like: what a team held and pays, and who of it?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from concertina.documents import MonthReport, WholeMonthReport

_HOURS = {
    "guaranteed_gpu_hours": "GUARANTEED",
    "borrowed_gpu_hours": "BORROWED",
    "lent_gpu_hours": "LENT",
    "idle_gpu_hours": "IDLE",
    "lost_work_gpu_hours": "LOST WORK",
}
_MONEY = {"cost": "COST", "credit": "CREDIT", "balance": "TO PAY"}
_PARTS = {
    "by_pool": ("POOL", "pool", ""),
    "by_person": ("PERSON", "user", ""),
    "by_job": ("JOB", "job", "job_name"),
    "by_label": ("LABEL", "label", "value"),
}
_FIRST_TO_GO = ("LOST WORK", "IDLE", "CREDIT")


def report_tables(found: MonthReport) -> RenderableType:
    """Show the month beside the one before, then who held most, and how jobs ended."""
    before = found["before"]
    totals = _table("MONTH")
    for month, total in ((found["month"], found["total"]), (before["month"], before["total"])):
        totals.add_row(month, *_amounts(total))
    ended = FittingTable("JOBS THAT ENDED", found["month"], before["month"])
    then: dict[str, Any] = dict(before["jobs"])
    for name, jobs in found["jobs"].items():
        ended.add_row(name, f"{jobs:,}", f"{then[name]:,}")
    tables: list[RenderableType] = [totals, "", ended]
    document: dict[str, Any] = dict(found)
    for part, (head, name, more) in _PARTS.items():
        if not document[part]:
            continue
        table = _table(head)
        for row in document[part]:
            table.add_row(_named(row, name, more), *_amounts(row))
        tables += ["", table]
    return Group(*tables)


def whole_report_tables(found: WholeMonthReport) -> RenderableType:
    """Show a row for each team, and what they add up to."""
    table = _table("TEAM")
    for row in found["teams"]:
        table.add_row(row["team"] or words.NOTHING, *_amounts(row))
    table.add_row(f"all, {found['month']}", *_amounts(found["total"]))
    table.add_row(f"all, {found['before']['month']}", *_amounts(found["before"]["total"]))
    return table


def report_rows(found: MonthReport) -> list[dict[str, Any]]:
    """Return the report as one list, with the part that each row is of."""
    document: dict[str, Any] = dict(found)
    rows = [
        {"part": "total", "name": found["month"], "more": "", **found["total"]},
        {
            "part": "before",
            "name": found["before"]["month"],
            "more": "",
            **found["before"]["total"],
        },
    ]
    for part, (_, name, more) in _PARTS.items():
        for row in document[part]:
            own = {key: value for key, value in row.items() if key not in {name, more}}
            told = {"name": row[name], "more": row[more] if more else ""}
            rows.append({"part": part.removeprefix("by_"), **told, **own})
    return rows


def _table(head: str) -> FittingTable:
    return FittingTable(head, *_HOURS.values(), *_MONEY.values(), first_to_go=_FIRST_TO_GO)


def _named(row: Mapping[str, Any], name: str, more: str) -> str:
    return f"{row[name]} {row[more]}" if more else str(row[name])


def _amounts(row: Mapping[str, Any]) -> Iterator[str]:
    for name in _HOURS:
        yield f"{row[name]:,.1f}" if row[name] else words.NOTHING
    for name in _MONEY:
        yield words.NOTHING if row[name] is None else f"{row[name]:,.2f}"
