"""What do sweeps look like, and the trials of one?"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from rich.text import Text

from concertina import words
from concertina.views.fitting import FittingTable
from concertina.views.jobs import state

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Sweep, SweepDetail, SweepTrial

_AT_RUNG = "paused_at_rung"
_STOPPED = "stopped_by_sweep"


def sweeps_table(sweeps: Iterable[Sweep]) -> FittingTable:
    """One row for each sweep."""
    table = FittingTable(
        *("ID", "SWEEP", "METRIC", "TRIALS", "AGE", "JOBS"), first_to_go=("AGE", "METRIC")
    )
    for one in sweeps:
        table.add_row(
            one["id"],
            f"{one['team']}/{one['name']}",
            f"{one['goal']} {one['metric']}",
            f"{one['made']}/{one['trials']}",
            words.age(one["submitted_at"]),
            _states(one),
        )
    return table


def sweep_lines(sweep: SweepDetail) -> str:
    """Say which sweep it is, how far it is, and which trial is the best."""
    made = f"{sweep['made']} of {sweep['trials']} trials"
    lines = [f"{sweep['team']}/{sweep['name']} ({sweep['id']}): {made}, {_standing(sweep)}."]
    if sweep["rungs"]:
        rungs = ", ".join(f"{rung:g}" for rung in sweep["rungs"])
        lines.append(
            f"Of each {sweep['reduction']} trials one goes on from a rung: after {rungs}"
            f" {sweep['resource']}."
        )
    if sweep["message"]:
        lines.append(f"Further trials are not submitted: {sweep['message']}")
    best = next((one for one in sweep["items"] if one["is_best"]), None)
    if best is None:
        lines.append(f"No trial has logged {sweep['metric']} yet.")
    else:
        values = ", ".join(f"{name} {_value(value)}" for name, value in best["values"].items())
        lines.append(
            f"Best: {best['name']} ({best['id']}), {sweep['metric']} {_metric(best)}, with"
            f" {values}."
        )
    return "\n".join(lines)


def sweep_table(sweep: SweepDetail) -> FittingTable:
    """One row for each trial, with its values; the best has a star."""
    names = [name.upper() for name in sweep["parameters"]]
    metric = sweep["metric"].upper()
    table = FittingTable(
        *("ID", "TRIAL", *names, "STATE", "RUNG", sweep["resource"].upper(), metric, ""),
        first_to_go=("ID",),
    )
    for one in sweep["items"]:
        table.add_row(
            one["id"],
            str(one["number"]),
            *(_value(one["values"].get(name)) for name in sweep["parameters"]),
            _state(one),
            words.NOTHING if one["rung"] is None else str(one["rung"] + 1),
            words.number(one["resource"]),
            _metric(one),
            "* best" if one["is_best"] else "",
        )
    return table


def _state(trial: SweepTrial) -> Text:
    if trial["reason"] == _AT_RUNG:
        return Text("waits at rung", style="yellow")
    if trial["reason"] == _STOPPED:
        return Text("stopped", style="dim")
    return state(trial["state"])


def _metric(trial: SweepTrial) -> str:
    """Return the newest value; at its highest rung it may have been no number."""
    if trial["value"] is not None:
        return words.number(trial["value"])
    return "no number" if trial["marks"] else words.NOTHING


def _standing(sweep: SweepDetail) -> str:
    counted = Counter(str(_state(one)) for one in sweep["items"])
    said = ", ".join(f"{count} {name}" for name, count in sorted(counted.items()))
    return said or "all jobs are deleted"


def _states(sweep: Sweep) -> str:
    counted = [f"{jobs} {name}" for name, jobs in sorted(sweep["states"].items())]
    return ", ".join(counted) or "all jobs are deleted"


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)
