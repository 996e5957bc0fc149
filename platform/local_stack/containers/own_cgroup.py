"""How much of a busy machine do all containers of a daemon get? As much as so many processes.

With the first version of control groups all of them together weigh as much as a single process of
the machine, so that beside some tests or a build they starve. The second version does not need
this, nor does a machine that is idle.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

CONTROLLERS = Path("/sys/fs/cgroup")
PROCESS_SHARES = 1024  # what the kernel gives to each process
AS_PROCESSES = 20  # guessed: as many as a job's workers and the machine's other work may be


def ensure(name: str) -> str | None:
    """The group below which the daemon shall put its containers; None: where it does by itself."""
    shares = CONTROLLERS / "cpu" / name / "cpu.shares"
    try:
        shares.parent.mkdir(exist_ok=True)
        shares.write_text(str(PROCESS_SHARES * AS_PROCESSES))
    except OSError:
        return None
    return f"/{name}"


def remove(name: str) -> None:
    """Remove it, without complaint if it is not there or not empty."""
    for group in sorted(CONTROLLERS.glob(f"*/{name}")):
        with contextlib.suppress(OSError):
            group.rmdir()
