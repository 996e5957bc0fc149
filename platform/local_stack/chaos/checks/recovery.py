"""Is everything back, and does everything hold? Asked until it does, or the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import psycopg2

from concertina import Client
from concertina.connection.retrying import RetryPolicy
from concertina.documents import Job
from concertina.errors import ConcertinaError
from local_stack.chaos.checks import invariants
from local_stack.chaos.checks.noticing import begun_after, successors
from local_stack.chaos.checks.watching import Watcher
from local_stack.chaos.faults import Component, Way
from local_stack.chaos.observation.database import StackDatabase
from local_stack.chaos.observation.facts import Facts
from local_stack.chaos.observation.silences import Silences
from local_stack.chaos.stacks.doubles import Doubles
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.stacks.workload import SAMPLES, ChaosWorkload, Training
from local_stack.chaos.strikes.strikes import StrikeRecord

BACK_SECONDS: Final = 180.0  # then it counts as gone for good
SETTLE_SECONDS: Final = 15.0  # an orphan may live so long, a row be wrong for so long
LOOK_SECONDS: Final = 0.2
TRAINS: Final = frozenset({"running", "rescaling"})
AT_ONCE: Final = RetryPolicy(patience_seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitResult:
    """How a wait ended."""

    is_back: bool
    last: str  # what came back last, or did not


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Looks at one run from outside."""

    stack: TargetStack
    database: StackDatabase
    workload: ChaosWorkload
    watcher: Watcher
    doubles: Doubles
    silences: Silences

    def sizes(self) -> dict[str, int]:
        """Return how many workers each job has, by its id; empty while the api does not answer."""
        try:
            return {job["id"]: job["workers"] for job in self._jobs()}
        except ConcertinaError:
            return {}

    def await_back(
        self, struck: StrikeRecord, *, sizes: Mapping[str, int], say: Callable[[str], None]
    ) -> WaitResult:
        """Wait until all is back since then, and jobs have the sizes that they had."""
        give_up_at = time.monotonic() + BACK_SECONDS
        last = ""
        while True:
            self.stack.revive(say=say)
            self.doubles.look_after()
            missing = self._missing(struck, sizes)
            if not missing or time.monotonic() > give_up_at:
                return WaitResult(is_back=not missing, last=missing or last)
            last = missing
            time.sleep(LOOK_SECONDS)

    def _missing(self, struck: StrikeRecord, sizes: Mapping[str, int]) -> str:
        """Return what is not as it was; empty: all is."""
        if not self.stack.is_well():
            return "the service is not well"
        if why := self.stack.missing_machine or self.silences.now:
            return why
        try:
            if why := self._unreplaced(struck):
                return why
            jobs = {job["id"]: job for job in self._jobs()}
            planned = self.database.planned_workers()
        except (ConcertinaError, psycopg2.Error) as trouble:
            return f"the service does not answer: {trouble}"
        for training in self.workload.trainings.values():
            before = sizes.get(training.id, 1)  # somebody else may have got a part since then
            before = min(before, planned.get(training.id, before))
            if why := self._missing_of(training, jobs.get(training.id), struck.over_at, before):
                return f"{training.name} {why}"
        return ""

    def _unreplaced(self, struck: StrikeRecord) -> str:
        """Say who was killed and is alive on record; until that is known, all looks as it was."""
        killed = [one for one in struck.targets if one.fault.way in {Way.KILL, Way.LOSE}]
        lost = {worker_id for target in killed for worker_id in target.worker_ids}
        if lost and (live := set(self.database.live_workers(lost))):
            begun_again = begun_after(struck.at, self.stack.job_processes())
            if live - begun_again:
                return f"{min(live - begun_again)} was killed, and is alive on record"
        led = [one for one in killed if one.fault.component is Component.COORDINATOR]
        for target in led:
            if target.job_ids <= self.workload.told_to_end():
                continue
            running = self.stack.job_processes()
            if not list(successors(target, struck, running)):
                return f"the coordinator of {min(target.job_ids)} has no successor"
        return ""

    def _missing_of(self, training: Training, job: Job | None, since: float, before: int) -> str:
        if job is None:
            return "is not listed"
        if training.is_told_to_end:
            return "" if job["finished_at"] else f"does not end: it is {job['state']}"
        needed = min(before, job["workers_desired"]) or 1  # what it grows by later is not missing
        if job["state"] not in TRAINS or job["workers"] < needed:
            return f"is {job['state']} with {job['workers']} of {needed} workers"
        if self.watcher.newest_step_at(training.record_dir) <= since:
            return "makes no steps"
        return ""

    def violations(self) -> list[str]:
        """Return what does not hold, even after it had time to settle."""
        give_up_at = time.monotonic() + SETTLE_SECONDS
        while True:
            found = list(self._problems())
            if not found or time.monotonic() > give_up_at:
                return found
            time.sleep(LOOK_SECONDS)

    def facts(self) -> Facts | None:
        """None: the database does not answer."""
        try:
            return self.database.facts()
        except psycopg2.Error:
            return None

    def _problems(self) -> Iterator[str]:
        running = self.stack.job_processes()
        try:
            facts = self.database.facts()
            yield from self.database.contradictions()
            listed = {job["id"]: job for job in self._jobs()}
        except (psycopg2.Error, ConcertinaError) as trouble:
            yield f"the service does not answer: {trouble}"
            return
        names, ended = self.workload.names(), self.workload.told_to_end()
        own = facts.with_names(f"{self.stack.prefix}-")
        yield from invariants.of_jobs(own, submitted=names, ended=ended)
        yield from invariants.of_histories(own)
        yield from invariants.of_gpus(facts)
        yield from invariants.of_orphans(facts, running)
        yield from invariants.of_gpu_time(own)
        yield from self._samples(facts)
        for job in own.jobs:
            if job.id not in listed:
                yield f"{job.name} is in the database, but not listed"

    def _samples(self, facts: Facts) -> Iterator[str]:
        for job in facts.jobs:
            training = self.workload.trainings.get(job.id)
            if training is not None:
                record = training.record()
                found = list(invariants.of_samples(job, record, samples_per_epoch=SAMPLES))
                if job.is_final and not found:
                    training.keep(record)
                yield from found

    def _jobs(self) -> list[Job]:
        return [job for token in self.stack.tokens.values() for job in self._of_team(token)]

    def _of_team(self, token: str) -> list[Job]:
        with Client(self.stack.url, token, policy=AT_ONCE) as client:
            return list(client.jobs())
