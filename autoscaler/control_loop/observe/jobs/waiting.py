"""What was seen before of the jobs that only wait? The same again, while their rows are the same.

A queue may be hundreds of jobs long, and hardly any of them changes from one tick to the next: to
read all of each again took a tick longer than to decide about them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from django.db.models import F

from autoscaler.control_loop.observe.jobs.job_view import JobView, has_only_waited
from autoscaler.control_loop.observe.jobs.row_version import RowVersion

MOST_CHARACTERS: Final = 10_000_000  # of specs; 40 to 100 MB with what is made of them

Version = list[str | None]

VERSION: Final = tuple(  # of all rows that the view of a job which only waits is made of
    RowVersion(F(field))
    for field in ("state", "team__name", "pool__name", "pool__fair_share__half_life_hours")
)


class WaitingMemory:
    """Views of jobs that have only waited, as they were seen last."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        self._most_characters = most_characters
        self._seen: dict[str, tuple[Version, JobView]] = {}

    def unchanged(self, versions: Mapping[str, Version]) -> dict[str, JobView]:
        """Return those of the jobs whose rows still have the versions in which they were seen."""
        known = ((job_id, version, self._seen.get(job_id)) for job_id, version in versions.items())
        return {job_id: seen[1] for job_id, version, seen in known if seen and seen[0] == version}

    def remember(self, views: Iterable[JobView], versions: Mapping[str, Version]) -> None:
        """Keep these and forget all others; of more than may be kept, the first.

        A version has to be read before its view: then a row that changes in between is read again.
        """
        kept = memorable(views, self._most_characters)
        self._seen = {view.id: (versions[view.id], view) for view in kept}


def memorable(
    views: Iterable[JobView], most_characters: int = MOST_CHARACTERS
) -> Iterator[JobView]:
    """Yield those that have only waited, as many as there is room for, in their order."""
    characters = 0
    for view in views:
        if has_only_waited(view.job):
            characters += view.spec_characters
            if characters > most_characters:
                return
            yield view
