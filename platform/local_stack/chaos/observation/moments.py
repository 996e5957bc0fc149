"""Is this the moment? Looked for from outside: in the database, and in what workers write down.

In the middle of a tick the control loop's own connection, which holds the loop's lock, shows what
it asked last. That a worker starts for a rescale is on record; that it is there shows in the file
that it opens for its steps, and the switch in the first step of a new generation in such a file.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final

from local_stack.chaos.faults import Moment

PATIENCE_SECONDS: Final = 10.0  # then it happens at whatever moment it is
LOOK_SECONDS: Final = 0.001
CHANGING: Final = ("starting", "rescaling", "stopping")
LAST_READ: Final = "cluster_nodechange"  # what a tick asks for last before it plans
TAIL_BYTES: Final = 400

TICKING: Final = """
    SELECT activity.state, activity.query
    FROM pg_locks lock JOIN pg_stat_activity activity ON activity.pid = lock.pid
    WHERE lock.locktype = 'advisory' AND lock.objid = x'436F6E63'::int AND lock.granted
"""
CHANGING_JOBS: Final = "SELECT count(*) FROM jobs_job WHERE state = ANY(%s)"
JOINERS: Final = """
    SELECT count(*) FROM jobs_worker worker JOIN jobs_job job ON job.id = worker.job_id
    WHERE job.state = 'rescaling' AND worker.phase = 'starting'
"""

OF_A_RESCALE: Final = frozenset({Moment.JOINING, Moment.TRANSFER, Moment.SWITCH})
WITH_NEWS: Final = frozenset({Moment.PLANNING, Moment.APPLYING})  # a tick that has something to do


class Moments:
    """Looks at one stack."""

    def __init__(self, cursor: Any, records: Collection[Path]) -> None:
        """Look through the cursor, and into the folders where workers write down their steps."""
        self._cursor = cursor
        self._records = records
        self._known = _paths(records)
        self._newest = {folder: _generation(folder) for folder in records}

    def await_one(self, moment: Moment) -> bool:
        """Wait until it is; False: it did not come, the time is up."""
        is_now = self._questions[moment]
        give_up_at = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < give_up_at:
            if is_now():
                return True
            time.sleep(LOOK_SECONDS)
        return False

    @property
    def _questions(self) -> dict[Moment, Callable[[], bool]]:
        return {
            Moment.QUIET: self._is_quiet,
            Moment.OBSERVING: self._is_observing,
            Moment.PLANNING: self._is_planning,
            Moment.APPLYING: self._is_applying,
            Moment.JOINING: self._has_joiners,
            Moment.TRANSFER: self._has_newcomers,
            Moment.SWITCH: self._has_switched,
        }

    def _is_quiet(self) -> bool:
        if self._tick() is not None:
            return False
        self._cursor.execute(CHANGING_JOBS, [list(CHANGING)])
        (count,) = self._cursor.fetchone()
        return bool(count == 0)

    def _is_observing(self) -> bool:
        tick = self._tick()
        return tick is not None and tick[1].startswith("SELECT") and " jobs_" in _bare(tick[1])

    def _is_planning(self) -> bool:
        return (tick := self._tick()) is not None and tick[0] == "idle" and LAST_READ in tick[1]

    def _is_applying(self) -> bool:
        tick = self._tick()
        if tick is None or tick[0] == "idle":
            return False
        words = _bare(tick[1]).split()
        return words[:1] in (["UPDATE"], ["INSERT"]) and any(w.startswith("jobs_") for w in words)

    def _tick(self) -> tuple[str, str] | None:
        self._cursor.execute(TICKING)
        row = self._cursor.fetchone()
        return (row[0] or "", row[1] or "") if row else None

    def _has_joiners(self) -> bool:
        self._cursor.execute(JOINERS)
        (count,) = self._cursor.fetchone()
        return bool(count)

    def _has_newcomers(self) -> bool:
        """A worker that has registered opens its record, and writes into it from the switch on."""
        return any(path.stat().st_size == 0 for path in _paths(self._records) - self._known)

    def _has_switched(self) -> bool:
        return any(_generation(folder) > newest for folder, newest in self._newest.items())


def _bare(query: str) -> str:
    return query.replace('"', "")


def _paths(folders: Collection[Path]) -> set[Path]:
    return {path for folder in folders for path in folder.glob("*.jsonl")}


def _generation(folder: Path) -> int:
    """The newest one in which a worker has written down a step; 0: none."""
    return max((_last_generation(path) for path in folder.glob("*.jsonl")), default=0)


def _last_generation(path: Path) -> int:
    with path.open("rb") as file:
        file.seek(max(path.stat().st_size - TAIL_BYTES, 0))
        whole, _, _ = file.read().rpartition(b"\n")
    last_line = whole.rpartition(b"\n")[2]
    return int(json.loads(last_line)["generation"]) if last_line else 0
