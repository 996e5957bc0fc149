"""How many GPUs does this machine have? Without any, slots stand for them."""

from __future__ import annotations

import re
import shutil
import subprocess

DEFAULT_SLOTS = 4


def names() -> tuple[str, ...]:
    """The name of each NVIDIA GPU the driver lists; empty without a driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return ()
    listed = subprocess.run(
        (program, "--query-gpu=name", "--format=csv,noheader"),
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )
    if listed.returncode != 0:
        return ()
    return tuple(line.strip() for line in listed.stdout.splitlines() if line.strip())


def kind() -> str:
    """What the pool's GPUs are called: the first one's name as a word, or `slot`."""
    found = names()
    return re.sub(r"[^a-z0-9]+", "-", found[0].lower()).strip("-") if found else "slot"


def slots() -> int:
    """How many workers can train side by side: one for each GPU, else a small number of slots."""
    return len(names()) or DEFAULT_SLOTS
