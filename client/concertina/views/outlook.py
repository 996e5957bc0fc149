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
        count = outlook["workers"] or 0
        workers = f"{count} worker{'s' if count != 1 else ''}"
        yield f"It would start now, with {workers} and a global batch of {batch}."
    elif outlook["action"] == "wait":
        yield "It would wait."
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


def _gives_way(one: GivesWay) -> str:
    team = f" of team {one['team']}" if one["team"] else " of another team"
    job = f"{one['name']} ({one['job_id']})" if one["name"] else f"A job{team}"
    if one["workers_with"] == 0:
        return f"{job} would be paused, or start later; else it has {one['workers_without']}."
    return f"{job} would have {one['workers_with']} workers instead of {one['workers_without']}."
