"""Runs a script as it is, with slow optimizer steps until a file appears: time for rescales.

Each step is slower than the one before, so that there is time enough on a busy machine, too.

python paced.py FILE script.py [ARGUMENT …]
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook

FIRST_STEP_SECONDS = 0.05
LONGEST_STEP_SECONDS = 2.0
GROWTH = 1.05


def main() -> None:
    file, script = Path(sys.argv[1]), sys.argv[2]
    step_seconds = FIRST_STEP_SECONDS

    def slow_down(*_: object) -> None:
        nonlocal step_seconds
        if not file.exists():
            time.sleep(step_seconds)
            step_seconds = min(step_seconds * GROWTH, LONGEST_STEP_SECONDS)

    register_optimizer_step_post_hook(slow_down)
    sys.argv = sys.argv[2:]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
