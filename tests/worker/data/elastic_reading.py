"""A tiny model of a job that reads data: real feeds and courses, workers without processes.

Time is counted in steps. Everything that can happen to a job happens between two of them: new
members or another batch are agreed on and begin as far ahead as samples are loaded, a worker is
lost at once, all workers are replaced by new ones that resume at the cursor.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.utils.data import IterableDataset

from concertina_worker.samples.loading.prefetch import Prefetch
from concertina_worker.samples.loading.reading import Reader
from concertina_worker.samples.loading.requests import PlannedBatch, Requests
from concertina_worker.samples.share import BatchShare
from concertina_worker.samples.source import Loading, SampleSource
from concertina_worker.samples.step_plan import Segment, StepPlan


class Count(IterableDataset[int]):
    """The stream of the numbers below its length."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.length))


class Pipeline:
    """Answers requests like a DataLoader that keeps some of them waiting ahead."""

    def __init__(self, reader: Reader, source: SampleSource, requests: Requests) -> None:
        self._reader = reader
        self._ahead = source.loading.batches_ahead
        self._requests = requests

    def __iter__(self) -> Iterator[Any]:
        asked = iter(self._requests)
        waiting: deque[Any] = deque()

        def ask() -> None:
            request = next(asked, None)
            if request is not None:
                waiting.append(self._reader.__getitems__(request))

        for _ in range(self._ahead):
            ask()
        while True:
            ask()
            if not waiting:
                return
            yield waiting.popleft()


@dataclass(slots=True)
class Worker:
    name: str
    prefetch: Prefetch
    limit: int | None = None


@dataclass(slots=True)
class Change:
    """What happens before a step."""

    workers: int | None = None
    batch_size: int | None = None
    limit: int | None = None
    loses_one: bool = False
    resumes: bool = False


@dataclass(slots=True)
class ReadingJob:
    """A job over one source; `run_epoch` returns how often each sample was used."""

    source: SampleSource
    members: tuple[str, ...]
    batch_size: int
    step: int = 0
    position: int = 0
    epoch: int = 0
    thrown_away: int = 0
    batches: list[int] = field(default_factory=list)
    _step_plan: StepPlan = field(init=False)
    _workers: dict[str, Worker] = field(default_factory=dict)
    _agreed: tuple[int, tuple[str, ...], int] | None = None  # from when on, who, which batch
    _hired: int = 0

    def __post_init__(self) -> None:
        self._hired = len(self.members)
        self._form(self.members, self.members, self.batch_size)

    @property
    def steps_ahead(self) -> int:
        return self.source.loading.batches_ahead

    def run_epoch(self, changes: dict[int, Change]) -> Counter[int]:
        """`changes` by the number of the step before which they happen."""
        used: Counter[int] = Counter()
        while True:
            self._switch_if_due()
            if change := changes.pop(self.step, None):
                self._happen(change)
            if not self._make_step(used):
                break
        self.epoch, self.position = self.epoch + 1, 0
        for worker in self._workers.values():
            worker.prefetch.end_epoch()
            worker.prefetch.begin_epoch(self.epoch)
        return used

    def _make_step(self, used: Counter[int]) -> bool:
        shares = {name: self._begin(worker) for name, worker in self._workers.items()}
        some_share = next(iter(shares.values()))
        if some_share is None:
            assert not any(shares.values()), "all see the end of the epoch at once"
            return False
        weight = 0.0
        for name, share in shares.items():
            assert share is not None
            assert share.batch == some_share.batch
            weight += self._compute(self._workers[name], share, used)
        assert abs(weight - 1.0) < 1e-9
        self.batches.append(len(some_share.batch))
        self.position = some_share.batch.stop
        self.step += 1
        return True

    def _begin(self, worker: Worker) -> BatchShare | None:
        if worker.prefetch.has_ended_at(self.position):
            return None
        before = worker.prefetch.thrown_away
        share = worker.prefetch.begin_step(self.step, self.position)
        self.thrown_away += worker.prefetch.thrown_away - before
        return share

    def _compute(self, worker: Worker, share: BatchShare, used: Counter[int]) -> float:
        loaded: list[int] = []
        for number, micro_batch in enumerate(share.micro_batches):
            batch = worker.prefetch.load(number).tolist()
            assert len(batch) == len(micro_batch)
            assert worker.limit is None or not share.own or len(batch) <= worker.limit
            loaded += batch
        if share.own:
            used.update(loaded)
            assert len(loaded) == len(share.own)
        return sum(share.weight(number) for number in range(len(share.micro_batches)))

    # -- what can happen -----------------------------------------------------------------------

    def _happen(self, change: Change) -> None:
        if change.resumes:
            self._hired += len(self.members)
            self._workers.clear()
            fresh = self._names(self._hired - len(self.members), len(self.members))
            self._form(fresh, fresh, self.batch_size)
        if change.loses_one and len(self.members) > 1:
            self._form(self.members[1:], self.members[1:], self.batch_size)
        if change.limit is not None:
            for worker in self._workers.values():
                worker.limit = change.limit
        if change.workers is not None or change.batch_size is not None:
            self._agree(change.workers or len(self.members), change.batch_size or self.batch_size)

    def _agree(self, count: int, batch_size: int) -> None:
        """On the oldest members and newcomers, from the first step on that nobody has loaded."""
        if self._agreed is not None:
            return
        kept = self.members[:count]
        members = kept + self._names(self._hired, count - len(kept))
        self._hired += count - len(kept)
        at = self.step + self.steps_ahead
        self._agreed = (at, members, batch_size)
        self._step_plan = self._step_plan.then(
            Segment(first_step=at, batch_size=batch_size, workers=kept)
        )

    def _switch_if_due(self) -> None:
        if self._agreed is None:
            return
        at, members, batch_size = self._agreed
        if self.step >= at or self.position == 0:
            stayers = tuple(name for name in members if name in self.members)
            self._form(stayers, members, batch_size)

    def _form(self, stayers: tuple[str, ...], members: tuple[str, ...], batch_size: int) -> None:
        self._agreed = None
        self.members, self.batch_size = members, batch_size
        segment = Segment(first_step=self.step, batch_size=batch_size, workers=stayers)
        self._step_plan = StepPlan((segment,))
        if stayers != members:  # their state arrives in one step
            first_step = self.step + 1 + self.steps_ahead
            self._step_plan = self._step_plan.welcome(*members, first_step=first_step)
        self._workers = {name: self._workers.get(name) or self._hire(name) for name in members}

    def _hire(self, name: str) -> Worker:
        def planned_batch(step: int) -> PlannedBatch:
            segment = self._step_plan.at(step)
            return PlannedBatch(
                batch_size=segment.batch_size, division=segment.division(name, limit=worker.limit)
            )

        prefetch = Prefetch(
            self.source,
            seed=1,
            planned_batch=planned_batch,
            loader_of=lambda reader, source, requests, _: Pipeline(reader, source, requests),
        )
        worker = Worker(name, prefetch)
        prefetch.begin_epoch(self.epoch)
        return worker

    @staticmethod
    def _names(start: int, count: int) -> tuple[str, ...]:
        return tuple(f"w{number}" for number in range(start, start + max(count, 0)))


def numbers(
    length: int, *, ahead: int = 0, is_stream: bool = False, **options: Any
) -> SampleSource:
    """The samples 0, 1, 2 and so on; each micro-batch a tensor of them."""
    dataset: Any = Count(length) if is_stream else list(range(length))
    return SampleSource(
        dataset=dataset,
        batch_size=1,
        collate=torch.tensor,
        loading=Loading(batches_ahead=ahead),
        **options,
    )
