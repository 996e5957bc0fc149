"""When do the networks of jobs go? With the job's last process, or else at the next sweep.

A daemon may refuse to remove one, or not answer just then; and a node has addresses for about 30.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from cluster.background.background_jobs import BackgroundJobs
from cluster.docker_host.connection.connections import asking
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.networks import Networks
from cluster.docker_host.lifecycle import former_release
from cluster.docker_host.record.records import Records

_SWEEP_SECONDS: Final = 60.0  # guessed: four quick questions to each daemon


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSweep:
    """Removes what jobs that are over left on the daemons."""

    networks: Networks
    records: Records
    now: Callable[[], float] = time.monotonic
    _due: dict[DaemonEndpoint, float] = field(default_factory=dict)
    _background: BackgroundJobs = field(
        default_factory=lambda: BackgroundJobs(name="remove_networks")
    )

    def now_and_then(
        self, endpoints: Iterable[DaemonEndpoint], everyone: Iterable[DaemonEndpoint]
    ) -> None:
        """Sweep these, if it is time; it does not wait."""
        now, everyone = self.now(), tuple(everyone)
        for endpoint in endpoints:
            if now >= self._due.get(endpoint, now):
                self._due[endpoint] = now + _SWEEP_SECONDS
                self._background.begin(endpoint.url, partial(self._tidy_up, endpoint, everyone))

    def _tidy_up(self, endpoint: DaemonEndpoint, everyone: Iterable[DaemonEndpoint]) -> None:
        """Networks that the daemon will not let go of keep no container from ending."""
        try:
            former_release.end_containers(
                endpoint, self.networks.connections, installation=self.networks.installation
            )
        finally:
            self.sweep(endpoint, everyone)

    def sweep(self, endpoint: DaemonEndpoint, everyone: Iterable[DaemonEndpoint]) -> None:
        """One daemon, now. Raises: HostUnavailable."""
        with asking(endpoint):
            self.networks.remove_unused(endpoint, everyone, also_used_by=self._jobs)

    def _jobs(self) -> set[str]:
        """Return those that have a process, as far as our records tell."""
        jobs = set()
        for record in self.records.all():
            process = None if record.is_forgotten else record.observed()
            if process is not None:
                jobs.add(process.labels.job_id)
        return jobs
