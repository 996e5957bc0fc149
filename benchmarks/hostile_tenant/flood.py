"""What does a hostile job run? Lines for its log without end, while a file says so.

`flood.py FILE lines|bytes NICE`: short lines with escape sequences, or none that ends.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

LINES = b"\x1b[2J\x1b]0;mine\x07 epoch 1 loss 0.123 \xff\xfe\r" * 3 + b"\n"


def main() -> None:
    step_back(int(sys.argv[3]))
    sign, kind = Path(sys.argv[1]), sys.argv[2]
    piece = LINES * 500 if kind == "lines" else b"\x1b[" + b"9" * 64_000
    while True:
        if sign.exists():
            for _ in range(20):
                os.write(sys.stdout.fileno(), piece)
        else:
            time.sleep(0.1)


def step_back(nice: int) -> None:
    """Be less urgent; also among sessions, by which Linux may share the processor out."""
    os.nice(nice)
    group = Path("/proc/self/autogroup")
    if group.exists():
        group.write_text(str(nice))


if __name__ == "__main__":
    main()
