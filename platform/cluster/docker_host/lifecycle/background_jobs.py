"""What is done in the background, because nobody may wait for it?

Whoever wants it done says so again and again, as the control loop does; what fails is tried again
then.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

import docker.errors

from cluster.docker_host.connection.connections import words
from cluster.worker_host import HostUnavailable

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundJobs:
    """Threads, at most one for each thing that is to be done."""

    name: str  # of the threads, and of what they do in the log
    _under_way: set[Hashable] = field(default_factory=set)
    _told: dict[Hashable, str] = field(default_factory=dict)  # why it was not done the last time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, about: Hashable, work: Callable[[], object]) -> None:
        """Do it, unless it is being done. `work` raises what keeps it from being done now."""
        with self._lock:
            if about not in self._under_way:
                arguments = (about, work)
                threading.Thread(
                    target=self._do, args=arguments, name=self.name, daemon=True
                ).start()
                self._under_way.add(about)

    def _do(self, about: Hashable, work: Callable[[], object]) -> None:
        try:
            work()
        except docker.errors.APIError as refusal:
            self._tell(about, words(refusal))
        except (HostUnavailable, OSError, ValueError) as problem:  # of its node, disk or record
            self._tell(about, str(problem))
        else:
            self._told.pop(about, None)
        finally:
            with self._lock:
                self._under_way.discard(about)

    def _tell(self, about: Hashable, problem: str) -> None:
        """Once, however often it is tried."""
        if self._told.get(about) != problem:
            self._told[about] = problem
            extra = {"action": self.name}
            _log.warning("%s: %s is done later: %s", self.name, about, problem, extra=extra)
