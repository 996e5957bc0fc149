"""Is everything back, and does everything hold? Asked until it does, or the time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import psycopg2

from concertina import Client
from concertina.documents import Job
from concertina.errors import ConcertinaError
from concertina.retrying import RetryPolicy
from local_stack.chaos import invariants, processes
from local_stack.chaos.database import Database
from local_stack.chaos.facts import Facts
from local_stack.chaos.private_stack import PrivateStack
from local_stack.chaos.watching import Watcher
from local_stack.chaos.workload import SAMPLES, Training, Workload

BACK_SECONDS: Final = 180.0  # then it counts as gone for good
SETTLE_SECONDS: Final = 15.0  # an orphan may live so long, a row be wrong for so long
LOOK_SECONDS: Final = 0.2
AT_ONCE: Final = RetryPolicy(patience_seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """Looks at one run from outside."""

    stack: PrivateStack
    database: Database
    workload: Workload
    watcher: Watcher

    def await_back(self, *, since: float, say: Callable[[str], None]) -> str:
        """Wait until all is back since that moment; else what is not, in words."""
        give_up_at = time.monotonic() + BACK_SECONDS
        while True:
            self.stack.revive(say=say)
            missing = self.missing(since)
            if not missing:
                return ""
            if time.monotonic() > give_up_at:
                return missing
            time.sleep(LOOK_SECONDS)

    def missing(self, since: float) -> str:
        """What is not as it was; empty: all is."""
        if not self.stack.is_well():
            return "the service is not well"
        try:
            jobs = {job["id"]: job for job in self._jobs()}
        except ConcertinaError as trouble:
            return f"the api says: {trouble}"
        for training in self.workload.trainings.values():
            if why := self._missing_of(training, jobs.get(training.id), since):
                return f"{training.name} {why}"
        return ""

    def _missing_of(self, training: Training, job: Job | None, since: float) -> str:
        if job is None:
            return "is not listed"
        if training.is_told_to_end:
            return "" if job["finished_at"] else f"does not end: it is {job['state']}"
        if job["state"] != "running" or job["workers"] != job["workers_desired"]:
            return f"is {job['state']} with {job['workers']} of {job['workers_desired']} workers"
        if self.watcher.newest_step_at(training.record_dir) <= since:
            return "makes no steps"
        return ""

    def violations(self) -> list[str]:
        """What does not hold, even after it had time to settle."""
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
        running = processes.running(self.stack.checkout.state_dir)
        try:
            facts = self.database.facts()
            yield from self.database.contradictions()
            listed = {job["id"]: job for job in self._jobs()}
        except (psycopg2.Error, ConcertinaError) as trouble:
            yield f"the service does not answer: {trouble}"
            return
        names, ended = self.workload.names(), self.workload.told_to_end()
        yield from invariants.of_jobs(facts, submitted=names, ended=ended)
        yield from invariants.of_histories(facts)
        yield from invariants.of_gpus(facts)
        yield from invariants.of_orphans(facts, running)
        yield from invariants.of_gpu_time(facts)
        yield from self._samples(facts)
        for job in facts.jobs:
            if job.id not in listed:
                yield f"{job.name} is in the database, but not listed"

    def _samples(self, facts: Facts) -> Iterator[str]:
        for job in facts.jobs:
            training = self.workload.trainings.get(job.id)
            if training is not None:
                record = training.record()
                yield from invariants.of_samples(job, record, samples_per_epoch=SAMPLES)

    def _jobs(self) -> list[Job]:
        return [job for token in self.stack.tokens.values() for job in self._of_team(token)]

    def _of_team(self, token: str) -> list[Job]:
        with Client(self.stack.url, token, policy=AT_ONCE) as client:
            return list(client.jobs())
