"""Runs a script as it is, with slow optimizer steps until a file appears: time for rescales.

Each step is slower than the one before: 80 of them take nine minutes, which no test has. So no
script comes to its end before the test lets it, however long workers take to start.

python paced.py FILE script.py [ARGUMENT …]
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook

FIRST_STEP_SECONDS = 0.05
GROWTH = 1.09
LOOK_SECONDS = 0.05  # for the file


def main() -> None:
    file, script = Path(sys.argv[1]), sys.argv[2]
    step_seconds = FIRST_STEP_SECONDS

    def slow_down(*_: object) -> None:
        nonlocal step_seconds
        ends_at = time.monotonic() + step_seconds
        while not file.exists() and (left := ends_at - time.monotonic()) > 0:
            time.sleep(min(left, LOOK_SECONDS))
        step_seconds *= GROWTH

    register_optimizer_step_post_hook(slow_down)
    sys.argv = sys.argv[2:]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
