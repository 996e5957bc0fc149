"""Hang every write to a file system for a while: `hanging.py FOLDER SECONDS`.

A program of its own, because whoever writes to a file system that hangs cannot be woken, not even
by a signal: it does not write there itself. It ends the hanging when the time is up, and before,
when its standard input is closed, as it is when whoever started it ends in whatever way.
Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import select
import signal
import sys

FIFREEZE = 0xC0045877  # linux/fs.h
FITHAW = 0xC0045878


def main(folder: str, seconds: float) -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # then, too, it goes on
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.ioctl(descriptor, FIFREEZE, 0)
    try:
        os.write(sys.stdout.fileno(), b"it hangs\n")
        select.select([sys.stdin], [], [], seconds)
    finally:
        thaw(descriptor)


def thaw(descriptor: int) -> None:
    """Let writes go on.

    Raises:
        OSError: they do.
    """
    fcntl.ioctl(descriptor, FITHAW, 0)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
