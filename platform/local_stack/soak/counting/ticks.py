"""How long did ticks take? As the worker that runs them wrote into its log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_DONE: Final = re.compile(rb"control_loop\.tasks\.tick\[[^]]*\] succeeded in ([0-9.e-]+)s")


class TickLog:
    """Reads on from where it has read to."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._offset = log.stat().st_size if log.exists() else 0

    def seconds(self) -> list[float]:
        """Return those of each tick that ended since it was asked last."""
        with self._log.open("rb") as stream:
            stream.seek(self._offset)
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        return [float(found) for found in _DONE.findall(whole)]
