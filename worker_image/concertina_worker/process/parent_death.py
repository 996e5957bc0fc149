"""How does a process end with its parent, however that ends? By the kernel's hand.

Linux only, where others do nothing; standard library only.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # prctl(2)


def die_with(parent: int) -> None:
    """Be killed when this parent ends; end at once if it has ended already."""
    with contextlib.suppress(AttributeError):  # only Linux has prctl
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
