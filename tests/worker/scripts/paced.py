"""Runs a script as it is, with slow optimizer steps until a file appears: time for rescales.

python paced.py FILE script.py [ARGUMENT …]
"""

from __future__ import annotations

import runpy
import sys
import time
from pathlib import Path

from torch.optim.optimizer import register_optimizer_step_post_hook

STEP_SECONDS = 0.05


def main() -> None:
    file, script = Path(sys.argv[1]), sys.argv[2]

    def slow_down(*_: object) -> None:
        if not file.exists():
            time.sleep(STEP_SECONDS)

    register_optimizer_step_post_hook(slow_down)
    sys.argv = sys.argv[2:]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
