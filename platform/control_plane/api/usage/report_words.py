"""How is a report of a month said in words? In a sentence, and as the text of a mail."""

from __future__ import annotations

import calendar
from collections.abc import Iterator, Mapping
from typing import Any, Final

_MOST_NAMED: Final = 5  # people and jobs, in a mail
_LONGEST_NAME: Final = 40


def month_in_words(month: str) -> str:
    """Return October 2026 for 2026-10."""
    year, number = month.split("-")
    return f"{calendar.month_name[int(number)]} {year}"


def sentence_of(report: Mapping[str, Any]) -> str:
    """Tell what the team held, borrowed and lent, what that costs, and how its jobs ended."""
    total, jobs, when = report["total"], report["jobs"], month_in_words(report["month"])
    so_far = "" if report["is_over"] else " so far"
    held = f"held {_hours(held_of(total))} GPU-hours"
    return (
        f"Team {report['team']} in {when}{so_far}: its jobs {held}, of which"
        f" {_hours(total['borrowed_gpu_hours'])} borrowed; it lent"
        f" {_hours(total['lent_gpu_hours'])}.{_money(total)} {_count(jobs['completed'])}"
        f" completed, {jobs['failed']:,} failed."
    )


def subject_of(report: Mapping[str, Any]) -> str:
    held = _hours(held_of(report["total"]))
    return f"{report['team']}: {held} GPU-hours in {month_in_words(report['month'])}"


def text_of(report: Mapping[str, Any], url: str) -> str:
    """Return the text of a mail: the first lines are what a telephone shows."""
    return "\n".join([report["message"], "", *_lines(report), "", url, ""])


def held_of(total: Mapping[str, Any]) -> float:
    held: float = total["guaranteed_gpu_hours"] + total["borrowed_gpu_hours"]
    return held


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    before = report["before"]
    yield f"{'GPU-hours':<22}{report['month']:>14}{before['month']:>14}"
    for name, label in (
        ("guaranteed_gpu_hours", "of its guarantee"),
        ("borrowed_gpu_hours", "borrowed"),
        ("lent_gpu_hours", "lent"),
        ("idle_gpu_hours", "idle"),
        ("lost_work_gpu_hours", "lost work"),
    ):
        yield f"{label:<22}{report['total'][name]:>14,.1f}{before['total'][name]:>14,.1f}"
    for name in ("cost", "credit", "balance"):
        now, then = report["total"][name], before["total"][name]
        if now is not None:
            yield f"{name:<22}{_amount(now):>14}{_amount(then):>14}"
    for name in ("completed", "failed"):
        yield f"{f'jobs {name}':<22}{report['jobs'][name]:>14,}{before['jobs'][name]:>14,}"
    yield ""
    yield report["fairness"]["message"]
    for part, name, title in (
        ("by_person", "user", "Most GPU-hours"),
        ("by_job", "job_name", "Largest jobs"),
    ):
        rows = report[part][:_MOST_NAMED]
        if rows:
            yield ""
            yield f"{title}:"
        for row in rows:
            yield f"  {row[name][:_LONGEST_NAME]:<{_LONGEST_NAME}}{held_of(row):>12,.1f}"


def _money(total: Mapping[str, Any]) -> str:
    if total["balance"] is None or not (total["cost"] or total["credit"]):
        return ""
    return (
        f" That costs {total['cost']:,.2f}; for what it lent it is credited"
        f" {total['credit']:,.2f}: {total['balance']:,.2f} in all."
    )


def _amount(amount: float | None) -> str:
    return "-" if amount is None else f"{amount:,.2f}"


def _hours(hours: float) -> str:
    return f"{hours:,.1f}".removesuffix(".0")


def _count(jobs: int) -> str:
    return f"{jobs:,} job{'' if jobs == 1 else 's'}"
