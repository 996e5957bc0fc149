"""Runs a script as it is, but a sample takes so much longer until a file appears: time to look.

More workers share the time, as they would share work, and nobody's processor is busy with it. It
becomes more and more, so that a short script is still there however late somebody looks.

python slow_samples.py FILE script.py [ARGUMENT …]
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module

SECONDS_PER_SAMPLE = 0.02  # at first
AS_MUCH_AGAIN_SECONDS = 30.0  # after each of which it is longer by that


class Pace:
    """Sleeps for every sample that the outermost model is given in training."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._began_at = file.parent.stat().st_mtime  # the same for all workers
        self._depth = 0

    def enter(self, _: torch.nn.Module, arguments: tuple[Any, ...]) -> None:
        is_outermost = self._depth == 0
        self._depth += 1
        if is_outermost and torch.is_grad_enabled() and not self._file.exists():
            times = 1 + (time.time() - self._began_at) / AS_MUCH_AGAIN_SECONDS
            time.sleep(len(arguments[0]) * SECONDS_PER_SAMPLE * times)

    def leave(self, *_: object) -> None:
        self._depth -= 1


def main() -> None:
    pace = Pace(Path(sys.argv[1]))
    module.register_module_forward_pre_hook(pace.enter)
    module.register_module_forward_hook(pace.leave)
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
