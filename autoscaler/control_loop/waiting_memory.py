"""What was seen before of the jobs that only wait? The same again, while their rows are the same.

A queue may be hundreds of jobs long, and hardly any of them changes from one tick to the next: to
read all of each again, and to make a planning value of it, cost a tick more than to decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.db.models import F, Func, TextField

from autoscaler.control_loop.job_view import JobView, has_only_waited
from autoscaler.planning.snapshot.cluster_state import Job

MOST_REMEMBERED: Final = 2000  # guessed: some 100 MB if all specs were as long as may be

Version = list[str | None]


class RowVersion(Func):
    """Names the version of the row that a field is in: no write leaves it as it was.

    It is the transaction that wrote the row, and where it wrote it: one may write a row twice.
    None where an outer join found no row.
    """

    output_field = TextField()

    def as_sql(self, compiler: Any, *_: Any, **__: Any) -> tuple[str, tuple[str | int, ...]]:
        (column,) = self.get_source_expressions()
        row = compiler.quote_name_unless_alias(column.alias)
        return f"{row}.xmin::text || {row}.ctid::text", ()


VERSION: Final = tuple(  # of all rows that the view of a job which only waits is made of
    RowVersion(F(field))
    for field in ("state", "team__name", "pool__name", "pool__fair_share__half_life_hours")
)


class PlannedMemory:
    """Planning values of jobs that have only waited, each made of a view that is still the same."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[JobView, Job]] = {}

    def made_of(self, view: JobView) -> Job | None:
        """Its value; None: the job is seen for the first time, or as it was not seen before."""
        made = self._made.get(view.id)
        return made[1] if made and made[0] is view else None

    def remember(self, made: Iterable[tuple[JobView, Job | None]]) -> None:
        """Keep these and forget all others."""
        waiting = ((view, job) for view, job in made if job and has_only_waited(view.job))
        self._made = {view.id: (view, job) for view, job in waiting}


class WaitingMemory:
    """Views of jobs that have only waited, as they were seen last."""

    def __init__(self, most: int = MOST_REMEMBERED) -> None:
        self._most = most
        self._seen: dict[str, tuple[Version, JobView]] = {}

    def unchanged(self, versions: Mapping[str, Version]) -> dict[str, JobView]:
        """Those of the jobs whose rows still have the versions in which they were seen."""
        known = ((job_id, version, self._seen.get(job_id)) for job_id, version in versions.items())
        return {job_id: seen[1] for job_id, version, seen in known if seen and seen[0] == version}

    def remember(self, views: Iterable[JobView], versions: Mapping[str, Version]) -> None:
        """Keep these and forget all others; of more than may be kept, the first.

        A version has to be read before its view: then a row that changes in between is read again.
        """
        waiting = [view for view in views if has_only_waited(view.job)][: self._most]
        self._seen = {view.id: (versions[view.id], view) for view in waiting}
