"""How is a decision explained?

The service's sentences are shown whatever else its document has or lacks: a service of another
release explains kinds of decisions that this client does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from concertina import words
from concertina.states import FINAL_STATES
from concertina.views.fitting import FittingTable
from concertina.views.job.changes import command
from concertina.views.jobs import state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from concertina.documents import Change, Choice, Details, Explanation, Job, RunningDetails


def explanation(job: Job, why: Explanation) -> RenderableType:
    """One sentence first; then the numbers it rests on."""
    head = Text.assemble(f"{job['team']}/{job['name']}: ", state(job["state"]))
    if job["state"] in FINAL_STATES:  # the last decision about it is history
        parts: list[RenderableType] = [head, job["message"]]
    else:
        numbers = Text(" · ".join(_numbers(why)), style="bright_black")
        parts = [head, why.get("message") or job["message"], *_remedy(why), numbers]
    parts += [Text(f"Warning: {warning}", style="yellow") for warning in why.get("warnings", ())]
    if job["state"] not in FINAL_STATES:
        parts += _limits(why)
    choices, changes = why.get("choices"), why.get("changes")
    if choices and job["state"] not in FINAL_STATES:
        parts.append(Padding(_choices_table(choices, job), (1, 0, 0, 0)))
    if changes:
        parts.append(Padding(_changes_table(changes), (1, 0, 0, 0)))
        if cost := changes[0].get("cost"):
            parts.append(Text(f"What the last restart cost: {cost}"))
    return Group(*parts)


def _remedy(why: Explanation) -> Iterator[RenderableType]:
    if remedy := why.get("remedy"):
        yield Text(remedy["message"], style="green")
        if changes := remedy.get("changes"):
            yield Text(f"  {command(why['job_id'], changes)}", style="bold")


def _limits(why: Explanation) -> Iterator[RenderableType]:
    """Yield each limit that holds for it; a used-up one stands out."""
    for limit in why.get("limits", ()):
        look = "yellow" if limit["is_used_up"] else "bright_black"
        yield Text(f"Limit: {limit['message']}", style=look)


def _numbers(why: Explanation) -> Iterator[str]:
    if reason := why.get("reason"):
        yield f"reason {reason}"
    if (position := why.get("position")) is not None:
        yield f"position {position} in the queue"
    if (gpus := why.get("gpus_asked")) is not None:
        yield f"asks for {gpus} GPUs"
    if (free := why.get("gpus_free")) is not None:
        yield f"{free} free"
    yield from _uses_of_the_next_gpus(why.get("details"))
    if (price := why.get("price")) is not None:
        yield f"one more GPU would add {words.number(price)} to the pool's value"
    if (cost := why.get("gpu_hours")) is not None:
        yield f"{cost:.2f} GPU-hours so far"
    if decided_at := why.get("decided_at"):
        yield f"decided at {words.clock_time(decided_at)}"


def _uses_of_the_next_gpus(details: Details | None) -> Iterator[str]:
    """Yield what they would bring here, and what as many bring elsewhere."""
    if not details or details.get("kind") != "running":
        return
    details = cast("RunningDetails", details)
    step, rival = details.get("next_step"), details.get("rival")
    if not step:
        return
    yield f"{step['workers']} workers: {words.gain(step['gain'])}"
    if rival:
        name = rival["job"]["name"] or f"a job of team {rival['job']['team']}"
        yield f"best elsewhere: {name} {words.gain(rival['gain'])}"


def _choices_table(choices: Sequence[Choice], job: Job) -> FittingTable:
    table = FittingTable("WORKERS", "BATCH", "SPEED", "SPEED-UP", "WORTH", "VALUE", "")
    for choice in choices:
        table.add_row(
            str(choice["workers"]),
            words.number(choice["global_batch_size"]),
            words.speed(choice["samples_per_second"]),
            f"{choice['speedup']:.2f}",
            words.percent(choice.get("efficiency", 1.0)),
            words.number(choice["value"]),
            "now" if choice["workers"] == job["workers_desired"] else "",
        )
    return table


def _changes_table(changes: Sequence[Change]) -> FittingTable:
    table = FittingTable("CHANGED AT", "REASON", "WHY")
    for change in changes:
        table.add_row(
            words.clock_time(change["at"]), change["reason"], words.first_line(change["message"])
        )
    return table
