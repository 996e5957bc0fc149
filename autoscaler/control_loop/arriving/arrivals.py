"""What is done in a tick for data that has to be fetched, and what does each job still lack?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from cluster.files.discarding import discard
from django.db import InterfaceError, OperationalError
from storage.data.cache import copies, words
from storage.data.cache.copies import LargerThanCache, key_of
from storage.data.cache.fetches import Fetches, FetchTrouble, FinishedFetch
from storage.data.cache.paths import CachePaths
from storage.data.cache.room import Key
from storage.data.fetcher.orders import FetchOrder, FetchResult
from storage.models import DataCopy, DataSource
from tenancy.secrets.team_secrets import SecretUnavailable

from autoscaler.control_loop.arriving import orders
from autoscaler.control_loop.arriving.telling import tell
from autoscaler.control_loop.arriving.wants import JobsWithData, used_by_live_jobs, wants_of
from autoscaler.control_loop.carry_out.error_notice import bear
from autoscaler.control_loop.lease.exclusive import LeaseLost
from autoscaler.control_loop.lease.orders import FencedOrders
from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.outside.arrival import StartPrerequisite
from autoscaler.control_loop.tick_context import TickContext
from jobs.models import Job

_CLEANED_EVERY: Final = timedelta(hours=1)
_LATELY: Final = timedelta(minutes=1)  # a look at a store that is so young is believed

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class DataArrivals:
    """What this process fetches; a tick looks at it once."""

    fetches: Fetches = field(default_factory=Fetches)
    _cleaned_at: datetime | None = None

    def go_on(
        self, views: Iterable[LiveJob], context: TickContext, giving: FencedOrders
    ) -> Mapping[str, StartPrerequisite]:
        """Fetch on; return by job what is not there yet. Jobs that only wait are told.

        Raises:
            LeaseLost: another process holds the lease now.
        """
        paths = CachePaths(state_dir=context.data.state_dir)
        wants = wants_of(views)
        if wants is None:
            self.fetches.keep_only(())
            self._clean(paths, giving, context.now)
            return {}
        look = _ArrivingData(
            wants=wants, fetches=self.fetches, paths=paths, context=context, giving=giving
        )
        look.take_in()
        arriving = look.arriving()
        tell(wants.views, arriving, context)
        self._clean(paths, giving, context.now)
        return arriving

    def _clean(self, paths: CachePaths, giving: FencedOrders, now: datetime) -> None:
        """Remove what nobody knows any more, now and then."""
        if not paths.root.is_dir():
            return
        if self._cleaned_at is not None and now - self._cleaned_at < _CLEANED_EVERY:
            return
        self._cleaned_at = now
        try:
            with giving.giving():
                copies.remove_strange(paths, partial(discard, aside=paths.aside))
        except OSError as problem:  # the next time, perhaps
            _log.warning("The cache cannot be cleaned: %s", problem, extra={"action": "fetch"})


def with_their_data(
    views: Mapping[str, LiveJob], arriving: Mapping[str, StartPrerequisite]
) -> dict[str, LiveJob]:
    """Jobs as the planner is to see them: one without its data neither starts nor grows for free.

    The cache is the same for all nodes: a start now would hold GPUs idle for just as long as the
    data takes, wherever it were. For one that trains, that long is part of what a change costs.
    """
    found = {}
    for job_id, view in views.items():
        if (arrival := arriving.get(job_id)) is None:
            found[job_id] = view
        elif not view.is_queued:
            found[job_id] = replace(view, data_seconds=arrival.seconds, likeness=object())
    return found


@dataclass(slots=True, kw_only=True)
class _ArrivingData:
    """One tick's look at all that has to be fetched."""

    wants: JobsWithData
    fetches: Fetches
    paths: CachePaths
    context: TickContext
    giving: FencedOrders
    _used: frozenset[Key] | None = None

    def take_in(self) -> None:
        """Write down what came of fetches that have ended; trouble with one is its own."""
        by_number = {source.pk: source for source in self.wants.sources.values()}
        for outcome in list(self.fetches.ended(self.context.now)):
            if (source := by_number.get(outcome.key[0])) is None:
                continue
            try:
                with self.context.fence.transaction():
                    self._take_in(outcome, source)
            except (LeaseLost, OperationalError, InterfaceError):
                raise
            except Exception:  # noqa: BLE001 - of this source alone
                extra = {"action": "fetch", "source": source.name}
                _log.exception("What came of a fetch cannot be kept.", extra=extra)
                self.fetches.put_off(outcome, "what came of it cannot be kept", self.context.now)

    def arriving(self) -> dict[str, StartPrerequisite]:
        """What each job lacks, after all has been begun that can be."""
        wanted: set[Key] = set()
        found: dict[str, StartPrerequisite] = {}
        for view in self.wants.views:
            try:
                lacking = [self._of(view, one, wanted) for one in self.wants.sources_of(view)]
            except Exception as problem:  # noqa: BLE001 - raised again if it concerns more than this job
                bear(problem, job_id=view.id, action="arrive", context=self.context)
                lacking = [
                    StartPrerequisite(note="its data cannot be looked into, and is tried again")
                ]
            if missing := [one for one in lacking if one is not None]:
                found[view.id] = _together(missing)
        self.fetches.keep_only(wanted)
        return found

    def _take_in(self, outcome: FinishedFetch, source: DataSource) -> None:
        _, version = outcome.key
        if outcome.status.result is FetchResult.DONE and not version:
            copy = copies.note_listing(source, outcome.status, listed_at=outcome.began_at)
            self.paths.listing(source.pk, "").replace(self.paths.listing(*key_of(copy)))
            self.wants.copies[key_of(copy)] = copy
            self._remove(copies.forget_old_listings(source, self._in_use()))
        elif outcome.status.result is FetchResult.DONE:
            self._change(self.wants.copies.get(outcome.key), DataCopy.State.READY)
        elif outcome.status.result is FetchResult.CHANGED:
            self._let_go(outcome.key, source)

    def _let_go(self, key: Key, source: DataSource) -> None:
        """The store has another version by now: jobs that have not begun take that."""
        for view in self.wants.views:
            versions = view.job.data_versions
            if versions.get(source.name) == key[1] and not view.job.starts:
                others = {name: one for name, one in versions.items() if name != source.name}
                self._pin(view, others)
        DataCopy.objects.filter(source=source, version=key[1]).update(
            listed_at=source.created_at  # seen like this before anything could want it
        )
        if (copy := self.wants.copies.get(key)) is not None:
            copy.listed_at = source.created_at

    def _of(self, view: LiveJob, source: DataSource, wanted: set[Key]) -> StartPrerequisite | None:
        """What the job lacks of a source; None: nothing. `wanted` gets what has to be done."""
        copy = self.wants.copy_of(view, source) or self._choose(view, source)
        if copy is not None:
            key = key_of(copy)
            wanted.add(key)
            if copy.state == DataCopy.State.READY and self.paths.folder(*key).is_dir():
                self._note_use(copy)
                return None
            if self.paths.listing(*key).is_file():
                return self._fetching(view, source, copy)
            self._forget(copy)  # somebody emptied the cache
        wanted.add((source.pk, ""))
        return self._listing(view, source)

    def _choose(self, view: LiveJob, source: DataSource) -> DataCopy | None:
        """Give a job that has not begun the newest version; it keeps that."""
        if view.job.starts and view.job.data_versions.get(source.name):
            return None
        newest = self.wants.newest_for(view, source)
        if newest is not None:
            with self.context.fence.transaction():
                self._pin(view, {**view.job.data_versions, source.name: newest.version})
        return newest

    def _pin(self, view: LiveJob, versions: Mapping[str, str]) -> None:
        Job.objects.filter(pk=view.id).update(data_versions=versions)
        view.job.data_versions = dict(versions)
        self._used = None  # what it has stays from now on

    def _forget(self, copy: DataCopy) -> None:
        with self.context.fence.transaction():
            DataCopy.objects.filter(pk=copy.pk).delete()
        self.wants.copies.pop(key_of(copy), None)

    def _listing(self, view: LiveJob, source: DataSource) -> StartPrerequisite:
        key = (source.pk, "")
        trouble = self.fetches.trouble(key)
        if trouble is not None and trouble.next_at is None:
            return StartPrerequisite(problem=_never(source, trouble))
        if view.job.data_versions.get(source.name) and self._was_just_listed(source):
            return StartPrerequisite(problem=_is_another(source))
        problem = self._begin(key, view, lambda: orders.to_list(source, self.paths, self.context))
        said = self._said(key, "its store is asked what is there")
        return problem or StartPrerequisite(note=f"data {source.name}: {said}")

    def _was_just_listed(self, source: DataSource) -> bool:
        since = self.context.now - _LATELY
        copies = self.wants.copies.values()
        return any(one.source_id == source.pk and one.listed_at >= since for one in copies)

    def _fetching(self, view: LiveJob, source: DataSource, copy: DataCopy) -> StartPrerequisite:
        key = key_of(copy)
        trouble = self.fetches.trouble(key)
        if trouble is not None and trouble.next_at is None:
            return StartPrerequisite(problem=_never(source, trouble))
        size = words.size(copy.bytes)
        try:
            has_room = self._has_room(copy)
        except LargerThanCache:
            most = words.size(self.context.data.cache_bytes)
            said = f"Data {source.name} has {size}, and the cache holds {most}."
            remedy = "Ask an admin to raise CONCERTINA_CACHE_BYTES, or use a part of it."
            return StartPrerequisite(problem=f"{said} {remedy}")
        if not has_room:
            said = f"{size} wait for room in the cache, which data of live jobs fills"
            return StartPrerequisite(note=f"data {source.name}: {said}")
        problem = self._begin(
            key, view, lambda: orders.to_fetch(source, copy, self.paths, self.context)
        )
        return problem or self._under_way(source, copy, key)

    def _under_way(self, source: DataSource, copy: DataCopy, key: Key) -> StartPrerequisite:
        running = self.fetches.status(key, self.context.now)
        if running is None:
            return StartPrerequisite(note=f"data {source.name}: {self._said(key, '')}")
        status, seconds = running
        far = words.how_far(status.done_bytes, copy.bytes, seconds)
        return StartPrerequisite(note=f"data {source.name}: {far}", seconds=seconds or 0.0)

    def _begin(
        self, key: Key, view: LiveJob, order: Callable[[], FetchOrder]
    ) -> StartPrerequisite | None:
        """Begin a fetch if one may be begun; returns why it never can."""
        owner, now = str(view.job.team_id), self.context.now
        if not self.fetches.is_due(key, now, owner=owner):
            return None
        try:
            self.paths.make(key[0])
            with self.giving.giving():
                self.fetches.begin(key, order(), now, owner=owner)
        except SecretUnavailable as problem:
            return StartPrerequisite(problem=f"{problem} Its data cannot be fetched without it.")
        except OSError as problem:
            extra = {"action": "fetch", "source": key[0]}
            _log.warning("A fetch cannot be begun: %s", problem, extra=extra)
        return None

    def _said(self, key: Key, usually: str) -> str:
        if key in self.fetches:
            return usually
        trouble = self.fetches.trouble(key)
        if trouble is None:
            return "waits until other data is there"
        return f"{trouble.problem.rstrip('.')}; it is tried again"

    def _has_room(self, copy: DataCopy) -> bool:
        if copy.state == DataCopy.State.FETCHING:
            return True
        used, most = self._in_use(), self.context.data.cache_bytes
        with self.context.fence.transaction():
            going = copies.make_room(copy, used, most_bytes=most)
        if going is None:
            return False
        self._remove(going)
        return True

    def _in_use(self) -> frozenset[Key]:
        if self._used is None:
            self._used = used_by_live_jobs()
        return self._used

    def _remove(self, going: Iterable[Key]) -> None:
        with self.giving.giving():
            for key in going:
                self.wants.copies.pop(key, None)
                copies.remove_files(key, self.paths, partial(discard, aside=self.paths.aside))

    def _note_use(self, copy: DataCopy) -> None:
        now = self.context.now
        if now - copy.used_at >= copies.USED_EVERY:
            with self.context.fence.transaction():
                DataCopy.objects.filter(pk=copy.pk).update(used_at=now)

    def _change(self, copy: DataCopy | None, state: DataCopy.State) -> None:
        if copy is not None:
            DataCopy.objects.filter(pk=copy.pk).update(state=state, used_at=self.context.now)
            copy.state = state


def _together(lacking: list[StartPrerequisite]) -> StartPrerequisite:
    """What one job lacks of several sources: why it never comes, or all that is on the way."""
    hopeless = next((one for one in lacking if one.problem), None)
    return hopeless or StartPrerequisite(
        note="; ".join(one.note for one in lacking), seconds=max(one.seconds for one in lacking)
    )


def _never(source: DataSource, trouble: FetchTrouble) -> str:
    if trouble.result is FetchResult.CHANGED:
        return _is_another(source)
    return f"Data {source.name} cannot be fetched: {trouble.problem}"


def _is_another(source: DataSource) -> str:
    return (
        f"Data {source.name} has changed in its store since the job began, and what it began with"
        " is not in the cache any more. Submit the job again."
    )
