"""How does the demo talk to the service? It submits each job when its time has come, and asks."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Iterable, Mapping

from concertina import Client
from concertina.connection.retrying import RetryPolicy
from concertina.documents import Job
from concertina.errors import ConcertinaError, Unreachable
from concertina.states import FINAL_STATES, LIVE_STATES
from local_stack.demo.scripts import Scripts
from local_stack.demo.workload import LABEL, DemoJob

AT_ONCE = RetryPolicy(patience_seconds=0.0)  # the screen must go on; the next look comes soon


class Conductor:
    """One run of the demo, seen through the service's API."""

    def __init__(
        self, jobs: Iterable[DemoJob], *, url: str, tokens: Mapping[str, str], scripts: Scripts
    ) -> None:
        """Use each team's own token."""
        self._waiting = list(jobs)
        self._connections = contextlib.ExitStack()
        self._clients = {
            team: self._connections.enter_context(Client(url, token, policy=AT_ONCE))
            for team, token in tokens.items()
        }
        self._scripts = scripts
        self._run = uuid.uuid4().hex[:8]
        self._submitted: list[tuple[DemoJob, str]] = []  # with their ids
        self.documents: dict[str, Job] = {}  # by name, as last seen
        self.slots = 0
        self.began = self._last_arrival = time.monotonic()
        self._most_workers: dict[str, int] = {}  # each job has had at once
        self.is_service_away = False

    def close(self) -> None:
        """Close the connections to the service."""
        self._connections.close()

    @property
    def elapsed_seconds(self) -> float:
        return time.monotonic() - self.began

    @property
    def waiting(self) -> tuple[DemoJob, ...]:
        """Jobs whose time has not come."""
        return tuple(self._waiting)

    @property
    def is_over(self) -> bool:
        """True when every job has been submitted and has ended."""
        states = [job["state"] for job in self.documents.values()]
        everything_is_in = not self._waiting and len(states) == len(self._submitted)
        return everything_is_in and all(state in FINAL_STATES for state in states)

    def prepare(self) -> None:
        """Count the slots, and cancel live jobs of an earlier demo; then the clock starts."""
        client = next(iter(self._clients.values()))
        self.slots = sum(pool["gpus_total"] for pool in client.pools())
        self._cancel_leftovers()
        self.began = self._last_arrival = time.monotonic()

    def run_once(self) -> None:
        """Submit what is due and look at every job. A service that is away is asked again."""
        try:
            self._submit_due()
            self._look()
        except Unreachable:
            self.is_service_away = True
        else:
            self.is_service_away = False

    def cancel(self) -> None:
        """Give up: cancel what is not final. Best effort."""
        for job in self.documents.values():
            if job["state"] not in FINAL_STATES:
                with contextlib.suppress(ConcertinaError):
                    self._clients[job["team"]].cancel(job["id"], reason="the demo was stopped")

    def _submit_due(self) -> None:
        while self._waiting and self._is_due(self._waiting[0]):
            job = self._waiting[0]
            spec = job.spec(scripts=self._scripts, run=self._run)
            key = f"demo-{self._run}-{job.name}"  # asked twice, it is still one job
            submitted = self._clients[job.team].submit(spec, idempotency_key=key)
            self._submitted.append((job, submitted.job["id"]))
            self._waiting.pop(0)
            self._last_arrival = time.monotonic()

    def _is_due(self, job: DemoJob) -> bool:
        waited_seconds = time.monotonic() - self._last_arrival
        return job.arrival.is_due(waited_seconds, self._most_workers)

    def _look(self) -> None:
        for job, job_id in self._submitted:
            seen = self.documents.get(job.name)
            if seen is None or seen["state"] not in FINAL_STATES:
                self.documents[job.name] = self._clients[job.team].job(job_id)
                most = self._most_workers.get(job.name, 0)
                self._most_workers[job.name] = max(most, self.documents[job.name]["workers"])

    def _cancel_leftovers(self) -> None:
        while live := self._live_demo_jobs():
            for job in live:
                if job["state"] != "stopping":
                    self._clients[job["team"]].cancel(job["id"], reason="a new demo begins")
            time.sleep(1)

    def _live_demo_jobs(self) -> list[Job]:
        return [
            job
            for client in self._clients.values()
            for job in client.jobs(states=LIVE_STATES)
            if LABEL in job["labels"]
        ]
