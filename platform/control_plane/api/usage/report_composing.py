"""What does the report of a month say? As the API answers it; for a team ten statements read it.

Amounts of money are rounded once, where they are told: those of teams, which are what somebody
pays. What is told of all teams together is the sum of these.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import date, datetime
from fractions import Fraction
from typing import Any, Final

from autoscaler.gpu_accounts.reading import receipt, report, usage
from autoscaler.gpu_accounts.reading.report import EndedJobs, ReportSum, total_of
from control_plane.api.usage.documents import hours_of
from control_plane.api.usage.receipt_words import missing_of, said
from control_plane.api.usage.report_words import sentence_of

_DIGITS: Final = 6  # as prices have
_SECOND: Final = 1_000_000


def team_report(team: str, month: date) -> dict[str, Any]:
    """Return a team's report; of a month that is not over, up to the last hour that is closed."""
    when = _time_of(month)
    sums = report.read_sums(month, team=team)
    parts = report.read_parts(month, team)
    total = total_of(sums.asked.values())
    earlier = report.month_before(month)
    found = {
        "team": team,
        "month": f"{month:%Y-%m}",
        **when,
        "total": _row(total),
        "jobs": asdict(report.ended_jobs(month, team=team).get(team, EndedJobs())),
        "before": {
            "month": f"{earlier:%Y-%m}",
            "total": _row(total_of(sums.before.values())),
            "jobs": asdict(report.ended_jobs(earlier, team=team).get(team, EndedJobs())),
        },
        "by_pool": [{"pool": pool, **_row(one)} for (_, pool), one in _largest_first(sums.asked)],
        "by_person": [{"user": user, **_row(one)} for user, one in parts.people.items()],
        "by_job": [{"job": one.job, "job_name": one.name, **_row(one.sum)} for one in parts.jobs],
        "by_label": [
            {"label": label, "value": value, **_row(one)}
            for (label, value), one in parts.labels.items()
        ],
        "fairness": _fairness(team, when["since"], when["until"]),
    }
    return {**found, "message": sentence_of(found)}


def whole_report(month: date) -> dict[str, Any]:
    """Return what all teams used, are charged and are credited, and what stays.

    Teams whose jobs ended without ever holding a GPU have a row, too, as they have a report.
    """
    sums = report.read_sums(month)
    jobs, earlier = report.ended_jobs(month), report.month_before(month)
    asked, before = _by_team(sums.asked), _by_team(sums.before)
    nothing = _row(ReportSum())
    rows = [
        {
            "team": team or None,
            **asked.get(team, nothing),
            "jobs": asdict(jobs.get(team, EndedJobs())),
        }
        for team in sorted({*asked, *jobs})
    ]
    return {
        "month": f"{month:%Y-%m}",
        **_time_of(month),
        "total": _total(sums.asked.values(), asked.values()),
        "before": {
            "month": f"{earlier:%Y-%m}",
            "total": _total(sums.before.values(), before.values()),
        },
        "teams": rows,
        "by_pool": [
            {"pool": pool, **_row(one)}
            for (_, pool), one in _largest_first(_without_teams(sums.asked))
        ],
    }


def latest_month(now: datetime) -> date:
    """Return the month that was over last; the one that goes on, if accounts begin in it."""
    current, closed = now.date().replace(day=1), usage.closed_time()
    is_first = closed is None or closed.since >= report.begin_of(current)
    return current if is_first else report.month_before(current)


def _time_of(month: date) -> dict[str, Any]:
    """Tell which part of the month has accounts."""
    begins, ends = report.begin_of(month), report.begin_of(report.next_month(month))
    closed = usage.closed_time()
    if closed is None or closed.since >= ends:
        since = until = begins
    else:
        since = max(begins, closed.since)
        until = max(min(ends, closed.until), since)
    return {
        "since": since,
        "until": until,
        "is_over": closed is not None and closed.until >= ends,
        "unseen_seconds": usage.unseen_seconds(since, until),
    }


def _row(found: ReportSum) -> dict[str, Any]:
    costs = usage.Costs(cost=_money(found.cost), credit=_money(found.credit))
    return _balanced(hours_of(found.amounts, costs))


def _balanced(row: dict[str, Any]) -> dict[str, Any]:
    is_known = row["cost"] is not None and row["credit"] is not None
    return {**row, "balance": round(row["cost"] - row["credit"], _DIGITS) if is_known else None}


def _total(sums: Iterable[ReportSum], rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the sum of all teams: of their time as it is, of their money as they are told."""
    told = [*rows]
    hours = hours_of(total_of(sums).amounts, usage.Costs())
    return _balanced({**hours, **{name: _sum(told, name) for name in ("cost", "credit")}})


def _sum(rows: Iterable[Mapping[str, Any]], name: str) -> float | None:
    amounts = [row[name] for row in rows]
    return None if None in amounts else round(sum(amounts), _DIGITS)


def _by_team(sums: Mapping[tuple[str, str], ReportSum]) -> dict[str, dict[str, Any]]:
    found: dict[str, ReportSum] = {}
    for (team, _), one in sums.items():
        found.setdefault(team, ReportSum()).add(one)
    return {team: _row(one) for team, one in found.items()}


def _without_teams(
    sums: Mapping[tuple[str, str], ReportSum],
) -> Mapping[tuple[str, str], ReportSum]:
    found: dict[tuple[str, str], ReportSum] = {}
    for (_, pool), one in sums.items():
        found.setdefault(("", pool), ReportSum()).add(one)
    return found


def _largest_first(
    sums: Mapping[tuple[str, str], ReportSum],
) -> list[tuple[tuple[str, str], ReportSum]]:
    return sorted(sums.items(), key=lambda pair: (-pair[1].held, pair[0]))


def _fairness(team: str, since: datetime, until: datetime) -> dict[str, Any]:
    found = receipt.read_receipt(team, since=since, until=until, most_shortfalls=0)
    return {
        "message": said(team, found),
        "working_seconds": found.working / _SECOND,
        "given_seconds": found.given / _SECOND,
        "missing_gpu_seconds": sum(one.amount for one in found.missing) / _SECOND,
        "missing": missing_of(found),
    }


def _money(amount: Fraction | None) -> float | None:
    return None if amount is None else float(round(amount, _DIGITS))
