"""How is a decision explained?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.text import Text

from concertina import words
from concertina.states import FINAL_STATES
from concertina.views.jobs import plain_table, state

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from concertina.documents import Change, Choice, Details, Explanation, Job


def explanation(job: Job, why: Explanation) -> RenderableType:
    """One sentence first; then the numbers it rests on."""
    head = Text.assemble(f"{job['team']}/{job['name']}: ", state(job["state"]))
    if job["state"] in FINAL_STATES:  # the last decision about it is history
        parts: list[RenderableType] = [head, job["message"]]
    else:
        numbers = Text(" · ".join(_numbers(why)), style="bright_black")
        parts = [head, why["message"] or job["message"], *_remedy(why), numbers]
    parts += [Text(f"Warning: {warning}", style="yellow") for warning in why.get("warnings", ())]
    if why["choices"] and job["state"] not in FINAL_STATES:
        parts.append(Padding(_choices_table(why["choices"], job), (1, 0, 0, 0)))
    if why["changes"]:
        parts.append(Padding(_changes_table(why["changes"]), (1, 0, 0, 0)))
        if cost := why["changes"][0].get("cost"):
            parts.append(Text(f"What the last restart cost: {cost}"))
    return Group(*parts)


def _remedy(why: Explanation) -> Iterator[RenderableType]:
    if why["remedy"] is not None:
        yield Text(why["remedy"]["message"], style="green")


def _numbers(why: Explanation) -> Iterator[str]:
    yield f"reason {why['reason']}"
    if why["position"] is not None:
        yield f"position {why['position']} in the queue"
    if why["gpus_asked"] is not None:
        yield f"asks for {why['gpus_asked']} GPUs"
    if why["gpus_free"] is not None:
        yield f"{why['gpus_free']} free"
    yield from _uses_of_the_next_gpus(why["details"])
    if why["price"] is not None:
        yield f"one more GPU would add {words.number(why['price'])} to the pool's value"
    if why["decided_at"]:
        yield f"decided at {words.clock_time(why['decided_at'])}"


def _uses_of_the_next_gpus(details: Details | None) -> Iterator[str]:
    """What they would bring here, and what as many bring elsewhere."""
    if details is None or details["kind"] != "running":
        return
    step, rival = details["next_step"], details["rival"]
    if step is None:
        return
    yield f"{step['workers']} workers: {words.gain(step['gain'])}"
    if rival is not None:
        name = rival["job"]["name"] or f"a job of team {rival['job']['team']}"
        yield f"best elsewhere: {name} {words.gain(rival['gain'])}"


def _choices_table(choices: Sequence[Choice], job: Job) -> Table:
    table = plain_table("WORKERS", "BATCH", "SPEED", "SPEED-UP", "WORTH", "VALUE", "")
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


def _changes_table(changes: Sequence[Change]) -> Table:
    table = plain_table("CHANGED AT", "REASON", "WHY")
    for change in changes:
        table.add_row(
            words.clock_time(change["at"]), change["reason"], words.first_line(change["message"])
        )
    return table
