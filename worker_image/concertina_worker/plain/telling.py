"""How does a script that keeps its own loop tell how far it is? By a line of JSON in a file.

Standard library only, and cheap enough for every step: at most one line a second is written, and
the newest at the end. The platform names the file in the environment and reads it from outside; a
program in any other language appends such lines itself. Where nothing is named, nothing is told.
"""

from __future__ import annotations

import atexit
import json
import os
import time
from collections.abc import Callable, Mapping
from typing import Final, SupportsFloat

from concertina_worker.protocol import Env

SECONDS_BETWEEN_LINES: Final = 1.0


class ReportFile:
    """One worker's lines."""

    def __init__(
        self,
        path: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._clock = clock
        self._now = now
        self._written_at = -SECONDS_BETWEEN_LINES
        self._held: dict[str, float] = {}
        self._process = os.getpid()

    def tell(self, values: Mapping[str, float]) -> None:
        """Write it, or hold it back until a second has passed since the last line."""
        self._held |= values
        self._held["at"] = self._now()
        if self._clock() - self._written_at >= SECONDS_BETWEEN_LINES:
            self.flush()

    def flush(self) -> None:
        """Write what was held back. A full disk or a folder that is gone harms no training."""
        if not self._held or self._process != os.getpid():  # a fork tells nothing of its parent's
            return
        line = json.dumps(self._held).encode() + b"\n"
        self._held = {}
        self._written_at = self._clock()
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError:
            return
        try:
            os.write(descriptor, line)
        except OSError:
            pass
        finally:
            os.close(descriptor)


_files: Final[dict[str, ReportFile]] = {}


def report(
    *,
    step: int,
    samples: int | None = None,
    total_steps: int | None = None,
    **values: SupportsFloat,
) -> None:
    """Tell how far this script is, as often as it likes.

    `step` counts the optimizer steps since the job began, also over restarts; `samples` what they
    have used, where that is not the global batch each; `total_steps` how many it will be. What else
    is told becomes a curve: `loss=…`, `accuracy=…`; `epoch` and `learning_rate` have their own.
    """
    path = os.environ.get(Env.REPORT_FILE)
    if not path:
        return
    if path not in _files:
        _files[path] = ReportFile(path)
        atexit.register(_files[path].flush)
    given = {"step": step, "samples": samples, "total_steps": total_steps}
    counts = {name: int(count) for name, count in given.items() if count is not None}
    _files[path].tell({**counts, **{name: float(value) for name, value in values.items()}})
