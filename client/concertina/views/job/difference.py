"""In what do two jobs differ? Field by field, and below it what came of each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rich.table import Table

from concertina import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from concertina.documents import JobDetail

_OUTCOMES: Final[dict[str, Callable[[JobDetail], str]]] = {
    "state": lambda job: job["state"],
    "reason": lambda job: job["reason"] or words.NOTHING,
    "took": lambda job: words.duration(job["completion_seconds"]),
    "GPU time": lambda job: words.duration(job["gpu_seconds"]),
    "steps": lambda job: words.number(job["step"]),
    "samples": lambda job: words.number(job["samples"]),
    "speed": lambda job: words.speed(job["samples_per_second"]),
    "rescales": lambda job: str(job["rescales"]),
}


def differing_fields(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the values of each field that is not the same in both, by its dotted name.

    Lists are compared whole: to show the fourth word of a command alone would say nothing.
    """
    ours, theirs = dict(_leaves(first)), dict(_leaves(second))
    names = sorted(ours.keys() | theirs.keys())
    values = {name: [ours.get(name), theirs.get(name)] for name in names}
    return {name: pair for name, pair in values.items() if pair[0] != pair[1]}


def difference(first: JobDetail, second: JobDetail, fields: Mapping[str, list[Any]]) -> Table:
    """Return one table: the fields that differ, then the outcomes, and what was measured last."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("")
    for job in (first, second):
        table.add_column(f"{job['team']}/{job['name']} ({job['id']})", overflow="fold")
    for name, pair in fields.items():
        table.add_row(name, *map(_value, pair))
    if not fields:
        table.add_row("spec", "the same", "the same")
    table.add_row("")
    for name, text in _OUTCOMES.items():
        table.add_row(name, text(first), text(second))
    names = sorted(first["values"].keys() | second["values"].keys())
    for name in names:
        table.add_row(name, *(words.number(job["values"].get(name)) for job in (first, second)))
    return table


def _value(value: Any) -> str:
    """Write it as a job file could; a list on one line."""
    if value is None:
        return words.NOTHING
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _leaves(document: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value
