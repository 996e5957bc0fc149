"""What would the past have been with other quotas? A row for each team or step, and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from concertina.documents import (
        BeforeAfter,
        PreviewResult,
        PriceStep,
        QuotaPriceResult,
        TeamOutcome,
    )

    _Figure = Callable[[TeamOutcome], str]

_MOST_NAMED: Final = 10
_PREVIEWED: Final = (
    *("POOL", "TEAM", "GUARANTEED", "JOBS", "WAIT", "COMPLETION", "BORROWED", "LENT", "PAUSED"),
)

_PRICED: Final = (
    *("GPUS", "GUARANTEED", "WAIT", "COMPLETION", "SAVED", "OTHERS", "BORROWED", "LENT", "PAUSED"),
)
_DAYS_OF_WEEK: Final = 7.0


def preview_table(result: PreviewResult) -> FittingTable:
    """Return a table whose cells read `before → after`, or one figure where nothing changes."""
    table = FittingTable(*_PREVIEWED, first_to_go=("POOL", "JOBS", "LENT"))
    for row in result["teams"]:
        table.add_row(row["pool"], row["team"], *_cells(row))
    return table


def preview_lines(result: PreviewResult) -> Iterator[str]:
    """Yield what is worth a sentence beside the table."""
    yield f"{words.jobs(result['jobs'])} of the past until {words.date_time(result['until'])}."
    paused = result["paused"]
    for job in paused[:_MOST_NAMED]:
        yield f"{job['team']}/{job['name']} would have been paused."
    if len(paused) > _MOST_NAMED:
        yield f"And {words.jobs(len(paused) - _MOST_NAMED)} more would have been paused."


def _cells(row: BeforeAfter) -> Iterator[str]:
    before, after = row["before"], row["after"]
    yield _both(before, after, lambda one: str(one["guaranteed_gpus"]))
    yield _both(before, after, lambda one: str(one["jobs"]))
    yield _both(before, after, lambda one: words.duration(one["wait_seconds"]))
    yield _both(before, after, lambda one: words.duration(one["completion_seconds"]))
    yield _both(before, after, lambda one: _hours(one["borrowed_gpu_hours"]))
    yield _both(before, after, lambda one: _hours(one["lent_gpu_hours"]))
    yield _both(before, after, lambda one: str(one["paused_jobs"]))


def _both(before: TeamOutcome | None, after: TeamOutcome | None, figure: _Figure) -> str:
    one, other = (figure(side) if side else words.NOTHING for side in (before, after))
    return one if one == other else f"{one} → {other}"


def _hours(hours: float) -> str:
    return f"{hours:.1f} GPU-h"


def price_table(result: QuotaPriceResult) -> FittingTable:
    """Return a table of what the team's jobs would have taken, the fewest GPUs first."""
    table = FittingTable(*_PRICED, first_to_go=("PAUSED", "LENT", "BORROWED"))
    rows = [
        (step["gpus"], _step_cells(f"{step['gpus']:+}", step["team"], step))
        for step in result["steps"]
    ]
    rows.append((0, _step_cells("now", result["now"], None)))
    for _, cells in sorted(rows):
        table.add_row(*cells)
    return table


def price_lines(result: QuotaPriceResult, *, days: float) -> Iterator[str]:
    """Yield what is worth a sentence beside the table."""
    yield f"{words.jobs(result['jobs'])} of the past until {words.date_time(result['until'])}."
    alone = result["without_borrowing"]
    if alone and alone["job_hours_saved"] is not None:
        yield f"What it borrowed saved it {_job_hours(-alone['job_hours_saved'])} of its jobs."
    elif alone and alone["team"] and result["now"]:
        ended, all_ = alone["team"]["finished"], result["now"]["finished"]
        yield f"Without borrowing, {ended} of its {words.jobs(all_)} would have ended."
    for step in result["steps"]:
        if step["gpus"] == 1 and step["job_hours_saved"] is not None:
            a_week = step["job_hours_saved"] * _DAYS_OF_WEEK / days
            yield f"One GPU more would have saved it {_job_hours(a_week)} of its jobs a week."
        if step["adds_gpus"]:
            yield (
                f"{step['gpus']:+}: the pool has promised what it has, so here it has"
                f" {step['adds_gpus']} more."
            )


def _step_cells(gpus: str, team: TeamOutcome | None, step: PriceStep | None) -> tuple[str, ...]:
    if team is None:
        return (gpus, *(words.NOTHING for _ in _PRICED[1:]))
    return (
        gpus,
        str(team["guaranteed_gpus"]),
        words.duration(team["wait_seconds"]),
        words.duration(team["completion_seconds"]),
        _saved(step["job_hours_saved"]) if step else words.NOTHING,
        _others(step) if step else words.NOTHING,
        f"{team['borrowed_gpu_hours']:.1f} GPU-h",
        f"{team['lent_gpu_hours']:.1f} GPU-h",
        str(team["paused_jobs"]),
    )


def _others(step: PriceStep) -> str:
    """Say what the others saved together; nothing, where theirs do not compare."""
    saved = [one["job_hours_saved"] for one in step["others"]]
    return _saved(None if None in saved else sum(filter(None, saved)))


def _saved(hours: float | None) -> str:
    return words.NOTHING if hours is None else f"{hours:+.1f} job-h"


def _job_hours(hours: float) -> str:
    return f"{hours:.1f} h"
