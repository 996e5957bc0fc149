"""What was seen before of the jobs that are live? The same again, while their rows are the same.

There may be a thousand of them, and hardly any changes from one tick to the next: to read all of
each again took a tick longer than to decide about them. What is remembered may be lost at any time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Final

from cluster.worker_host import ObservedProcess

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.observe.jobs.versions import MOVING, Version

MOST_CHARACTERS: Final = 20_000_000  # of specs; 80 to 200 MB with what is made of them

Processes = Mapping[str, ObservedProcess]


class ViewMemory:
    """Views of live jobs, as they were seen last."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._seen: dict[str, tuple[Version, LiveJob]] = {}

    def unchanged(
        self, versions: Mapping[str, Version], processes: Processes
    ) -> dict[str, LiveJob]:
        """Return those of the jobs whose rows still have the versions in which they were seen.

        With what has moved since, and their processes of now.
        """
        known = ((job_id, version, self._seen.get(job_id)) for job_id, version in versions.items())
        return {
            job_id: _with_processes(_moved(seen[1], version), processes)
            for job_id, version, seen in known
            if seen and seen[0].rows == version.rows
        }

    def remember(self, views: Iterable[LiveJob], versions: Mapping[str, Version]) -> None:
        """Keep these and forget all others; of more than may be kept, the first.

        A version has to be read before its view: then a row that changes in between is read again.
        """
        kept = memorable(views, self._most_characters)
        self._seen = {view.id: (versions[view.id], view) for view in kept}


def memorable(
    views: Iterable[LiveJob], most_characters: int = MOST_CHARACTERS
) -> Iterator[LiveJob]:
    """Yield as many as there is room for, in their order."""
    characters = 0
    for view in views:
        characters += view.spec_characters
        if characters > most_characters:
            return
        yield view


def _moved(view: LiveJob, version: Version) -> LiveJob:
    """Return the view with what moved; whoever holds the former one still sees what it saw."""
    known = vars(view.job)
    if all(known[name] == value for name, value in zip(MOVING, version.moving, strict=True)):
        return view
    job = copy(view.job)
    vars(job).update(zip(MOVING, version.moving, strict=True))
    return replace(view, job=job)


def _with_processes(view: LiveJob, processes: Processes) -> LiveJob:
    """Return the view with its processes of now; another one, with nothing at rest, if any is."""
    workers = tuple(
        one if (now := processes.get(one.row.id)) == one.process else replace(one, process=now)
        for one in view.workers
    )
    coordinator = processes.get(view.coordinator_id)
    if workers == view.workers and coordinator == view.coordinator:
        return view
    return replace(view, workers=workers, coordinator=coordinator, likeness=object())
