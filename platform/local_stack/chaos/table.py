"""What does a person read at the end? A row for each component, as FfDL's paper has it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from local_stack.chaos.faults import Way
from local_stack.chaos.measuring import ChaosResult, ComponentRow, StrikeOutcome, rows

HEAD = (
    "component",
    "faults",
    "noticed",
    "noticed after",
    "back after",
    "training stood still",
    "steps made again",
)
DONE = {
    Way.KILL: "killed",
    Way.FREEZE: "frozen",
    Way.FILL: "full",
    Way.SLOW: "slow",
    Way.CUT: "cut",
    Way.LOSE: "lost",
}
NOT_TRIED = "Not tried here: a clock that jumps; and, without --docker, a daemon and a node."
NOT_TRIED_ON_RUNNING = (
    "Not tried here: a clock that jumps; and, with --running, the supervisor, disk and network, and"
    " other people's jobs."
)
NOT_TRIED_IN_CONTAINERS = (
    "Not tried here: a clock that jumps; and, with --docker, disks, cut networks, and what does not"
    " know whether there are containers."
)


def lines(outcomes: Sequence[StrikeOutcome]) -> Iterator[str]:
    """The table in Markdown, which is as readable in a terminal. Times: median, worst."""
    cells = [HEAD, *(_cells(row) for row in rows(outcomes))]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEAD))]
    for number, row in enumerate(cells):
        yield _line(row, widths)
        if number == 0:
            yield _line(["-" * width for width in widths], widths)


def report(outcome: StrikeOutcome) -> Iterator[str]:
    """Yield what a person reads while it goes on."""
    strike = outcome.strike
    met = "" if outcome.is_at_its_moment else " (moment not met)"
    yield f"#{strike.number} {strike}{met}"
    for one in outcome.faults:
        yield f"    {one.target}: noticed after {_seconds(one.noticed_seconds)}"
    last = f" (last: {outcome.back_last})" if outcome.back_last else ""
    yield (
        f"    back after {_seconds(outcome.back_seconds)}{last}, stood still for"
        f" {_seconds(outcome.standstill_seconds)}, {outcome.steps_made_again} steps made again"
    )
    for violation in outcome.violations:
        yield f"    ✗ {violation}"


def document(result: ChaosResult) -> dict[str, Any]:
    """All of it, for programs."""
    return {
        "seed": result.seed,
        "seconds": round(result.seconds, 1),
        "faults": result.faults,
        "violations": result.violations,
        "components": [_finite(asdict(row)) for row in rows(result.outcomes)],
        "strikes": [asdict(outcome) for outcome in result.outcomes],
    }


def _finite(figures: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity: what never came back is null."""
    return {name: None if value == math.inf else value for name, value in figures.items()}


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    return f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |"


def _cells(row: ComponentRow) -> tuple[str, ...]:
    return (
        row.component,
        _counts(row),
        f"{row.noticed} of {row.faults}",
        spread(row.noticed_p50, row.noticed_max),
        spread(row.back_p50, row.back_max),
        spread(row.standstill_p50, row.standstill_max),
        str(row.steps_made_again),
    )


def _counts(row: ComponentRow) -> str:
    return " + ".join(f"{row.ways[way]} {word}" for way, word in DONE.items() if way in row.ways)


def spread(median: float | None, worst: float | None) -> str:
    """`1.2 s, at most 5.4 s`."""
    if worst == math.inf:
        return "never at least once" if median is None else f"{median:.1f} s; once never"
    if median is None or worst is None:
        return "-"
    return f"{median:.1f} s, at most {worst:.1f} s"


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.1f} s"
