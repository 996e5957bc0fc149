"""Where does a worker of a test hang? It writes the stacks of all its threads into its log.

The zygote imports `stack_signal`, so every worker, coordinator and loading process hears of it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable
from typing import Final

import psutil

from tests.worker.stack_signal import SIGNAL

_WRITING_SECONDS: Final = 2.0


def ask(pids: Iterable[int]) -> None:
    """Let these processes and their children tell it; returns when they have had time to."""
    with contextlib.suppress(psutil.Error):
        for pid in pids:
            process = psutil.Process(pid)
            for one in [process, *process.children(recursive=True)]:
                one.send_signal(SIGNAL)
    time.sleep(_WRITING_SECONDS)
