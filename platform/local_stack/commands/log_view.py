"""What did the processes of the service write? Standard library only."""

from __future__ import annotations

import time
from collections import deque
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.terminal import coloured, say

POLL_SECONDS = 0.3


def show(checkout: Checkout, *, name: str | None, lines: int, is_following: bool) -> int:
    """Print the last lines of each log, or of one; with `is_following` go on until Ctrl-C."""
    files = sorted(checkout.logs_dir.glob("*.log"))
    chosen = [file for file in files if name in {None, file.stem}]
    if not chosen:
        names = ", ".join(file.stem for file in files) or "none yet"
        say(f"No log of {name!r}. There are: {names}." if name else "No logs yet.")
        return 1
    width = max(len(file.stem) for file in chosen)
    offsets = {file: _print_last(file, lines, width) for file in chosen}
    while is_following:
        time.sleep(POLL_SECONDS)
        offsets = {file: _print_new(file, offset, width) for file, offset in offsets.items()}
    return 0


def _print_last(file: Path, count: int, width: int) -> int:
    with file.open(errors="replace") as stream:
        for line in deque(stream, maxlen=count):
            _print(file, line, width)
        return stream.tell()


def _print_new(file: Path, offset: int, width: int) -> int:
    with file.open(errors="replace") as stream:
        stream.seek(offset)
        for line in stream:
            _print(file, line, width)
        return stream.tell()


def _print(file: Path, line: str, width: int) -> None:
    say(f"{coloured(f'{file.stem:<{width}}', 'cyan')} {line.rstrip()}")
