"""What does it look like what other quotas would have meant? A row for each team, and sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from concertina.documents import BeforeAfter, PreviewResult, TeamOutcome

    _Figure = Callable[[TeamOutcome], str]

_MOST_NAMED: Final = 10
_COLUMNS: Final = (
    *("POOL", "TEAM", "GUARANTEED", "JOBS", "WAIT", "COMPLETION", "BORROWED", "LENT", "PAUSED"),
)


def preview_table(result: PreviewResult) -> FittingTable:
    """Return a table whose cells read `before → after`, or one figure where nothing changes."""
    table = FittingTable(*_COLUMNS, first_to_go=("POOL", "JOBS", "LENT"))
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
