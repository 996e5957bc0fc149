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

from cluster.background.told_once import ToldOnce
from cluster.worker_host import WorkerHostError

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundJobs:
    """Threads, at most one for each thing that is to be done."""

    name: str  # of the threads, and of what they do in the log
    _under_way: set[Hashable] = field(default_factory=set)
    _told: ToldOnce = field(default_factory=ToldOnce)  # why it was not done the last time
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, about: Hashable, work: Callable[[], object]) -> bool:
        """Do it, unless it is being done. Return whether it begins now.

        `work` raises what keeps it from being done: a trouble of its node, disk or record.
        """
        with self._lock:
            if about in self._under_way:
                return False
            arguments = (about, work)
            threading.Thread(target=self._do, args=arguments, name=self.name, daemon=True).start()
            self._under_way.add(about)
            return True

    def _do(self, about: Hashable, work: Callable[[], object]) -> None:
        trouble = ""
        try:
            work()
        except (WorkerHostError, OSError, ValueError) as problem:
            trouble = str(problem)
        finally:
            with self._lock:
                self._under_way.discard(about)
                is_new = self._told.is_new(about, trouble)
        if is_new:
            extra = {"action": self.name}
            _log.warning("%s: %s is done later: %s", self.name, about, trouble, extra=extra)
