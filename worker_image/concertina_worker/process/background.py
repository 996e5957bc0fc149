"""How does a process end while threads of the runtime are inside PyTorch? It waits for them first.

Python ends a daemon thread that wants to come back from C++ after the interpreter has gone, by
unwinding its stack; PyTorch's frames forbid that, and the whole process aborts ("terminate called
without an active exception"). So threads that call PyTorch are started here, and joined at the end.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Final

_started: Final[weakref.WeakSet[threading.Thread]] = weakref.WeakSet()


def start(name: str, target: Callable[..., Any], *arguments: Any) -> threading.Thread:
    """Run this in a thread of its own that may be inside PyTorch at any time."""
    thread = threading.Thread(target=target, args=arguments, name=name, daemon=True)
    _started.add(thread)
    thread.start()
    return thread


def join_all(*, seconds: float) -> bool:
    """Wait for all of them, at most so long in all; False when one is still running."""
    deadline = time.monotonic() + seconds
    threads = [thread for thread in _started if thread is not threading.current_thread()]
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.0))
    return not any(thread.is_alive() for thread in threads)
