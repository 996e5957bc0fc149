"""Which versions of fetched sources do jobs have, or want?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage.data.cache.copies import key_of
from storage.data.cache.room import Key
from storage.data.kinds import FETCHED
from storage.models import DataCopy, DataSource

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from jobs.lifecycle import LIVE
from jobs.models import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class JobsWithData:
    """Jobs with fetched data, those that hold GPUs first, and what is known of that data."""

    views: tuple[LiveJob, ...]
    sources: Mapping[str, DataSource]  # by name
    copies: dict[Key, DataCopy]

    def sources_of(self, view: LiveJob) -> list[DataSource]:
        names = (use.source for use in view.spec.data)
        return [self.sources[name] for name in names if name in self.sources]

    def copy_of(self, view: LiveJob, source: DataSource) -> DataCopy | None:
        """Return the version that the job has; None: it has none yet, or that is not known."""
        version = view.job.data_versions.get(source.name)
        return self.copies.get((source.pk, version)) if version else None

    def newest_for(self, view: LiveJob, source: DataSource) -> DataCopy | None:
        """Return what the store was seen to be like since the job was submitted."""
        seen = [
            copy
            for copy in self.copies.values()
            if copy.source_id == source.pk and copy.listed_at >= view.job.submitted_at
        ]
        return max(seen, key=lambda copy: copy.listed_at, default=None)


def wants_of(views: Iterable[LiveJob]) -> JobsWithData | None:
    """Two statements if any job names data, none else; None: no data has to be fetched."""
    users = [view for view in views if view.spec.data and (view.is_active or view.is_queued)]
    names = {use.source for view in users for use in view.spec.data}
    if not names:
        return None
    found = DataSource.objects.filter(name__in=names, kind__in=FETCHED)
    sources = {source.name: source for source in found}
    if not sources:
        return None
    mine = [view for view in users if any(use.source in sources for use in view.spec.data)]
    copies = DataCopy.objects.filter(source__in=sources.values())
    return JobsWithData(
        views=tuple(sorted(mine, key=lambda view: not view.is_active)),
        sources=sources,
        copies={key_of(copy): copy for copy in copies},
    )


def used_by_live_jobs() -> frozenset[Key]:
    """Return what stays: also what paused jobs have, which go on with it."""
    numbers = dict(DataSource.objects.filter(kind__in=FETCHED).values_list("name", "pk"))
    live = Job.objects.filter(state__in=LIVE).exclude(data_versions={})
    return frozenset(
        (numbers[name], version)
        for versions in live.values_list("data_versions", flat=True)
        for name, version in versions.items()
        if name in numbers
    )
