"""What would become of a job if it were submitted now, in sentences?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from concertina import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from concertina.documents import GivesWay, Outlook

_MOST: Final = 10


def outlook_lines(outlook: Outlook | None) -> Iterator[str]:
    """Yield one line for each thing that is known."""
    if outlook is None:
        yield "What would become of it is not known: this service does not look ahead."
        return
    if outlook["action"] == "start":
        batch = outlook["global_batch_size"]
        workers = _workers(outlook["workers"] or 0)
        where = _where(outlook)
        yield f"It would start now{where}, with {workers} and a global batch of {batch}."
    elif outlook["action"] == "wait":
        yield f"It would wait{_where(outlook)}."
    elif outlook["action"]:
        yield "It would be refused: its pool has no queue, and it does not fit now."
    yield outlook["message"]
    gives_way = outlook["gives_way"]
    for one in gives_way[:_MOST]:
        yield _gives_way(one)
    if len(gives_way) > _MOST:
        yield f"And {len(gives_way) - _MOST} more jobs would give way."
    if outlook["start"]:
        yield f"Predicted start: {words.predicted(outlook['start'])}."
    if outlook["finish"]:
        yield f"Predicted end: {words.predicted(outlook['finish'])}."


def _where(outlook: Outlook) -> str:
    """Return the pool as part of a sentence; an older service says none."""
    pool = outlook.get("pool")
    return f" in pool {pool}" if pool else ""


def _gives_way(one: GivesWay) -> str:
    before, after = one["workers_without"], one["workers_with"]
    if after == 0:
        return (
            f"{_who(one)} would be paused, or start later; else it would have {_workers(before)}."
        )
    return f"{_who(one)} would have {_workers(after)} instead of {before}."


def _who(one: GivesWay) -> str:
    if one["name"]:
        return f"{one['name']} ({one['job_id']})"
    return f"A job of team {one['team']}" if one["team"] else "What other teams run"


def _workers(count: int) -> str:
    return f"{count} worker{'s' if count != 1 else ''}"
