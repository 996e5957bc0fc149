"""How does a child process end with its parent, even when the parent is killed with -9?

Run as a program, `tether.py SIGNAL PARENT COMMAND…` asks the kernel to send the signal to this
process when the parent ends, then becomes the command. Linux only: elsewhere a killed supervisor
leaves its children for the next one to find by the records in `stack_file`.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h
EXIT_PARENT_GONE = 1


def main(arguments: list[str]) -> None:
    """Tie this process to its parent and become the command."""
    signal_number, parent, *command = arguments
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(signal_number))
    if os.getppid() != int(parent):  # it ended before the kernel knew of the tether
        sys.exit(EXIT_PARENT_GONE)
    os.execvp(command[0], command)  # noqa: S606 - becoming the command is the point


def tethered(command: tuple[str, ...], *, death_signal: signal.Signals) -> list[str]:
    """The command line that runs `command` tethered to the calling process."""
    interpreter = [sys.executable, "-E", "-S", __file__]  # starts in a few milliseconds
    return [*interpreter, str(int(death_signal)), str(os.getpid()), *command]


if __name__ == "__main__":
    main(sys.argv[1:])
