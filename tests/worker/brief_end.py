"""How may a worker of a test end? At once, after all that wants to run at its exit.

Python takes down what it has imported, module by module, and PyTorch unregisters each of its
operators before. In a fork of the zygote each page of that is copied first: a quarter of a second
of a processor, half of what a worker of a short test takes. The zygote of the tests imports this
module before all others, so its exit function is the last.
"""

from __future__ import annotations

import atexit
import os
import sys
import weakref
from typing import Any, Final, NoReturn

_VARIABLE: Final = "TESTS_BRIEF_END"
_usual_exit = sys.exit
_codes: list[int] = []


def _exit(code: Any = None, /) -> NoReturn:
    """`python_program` ends every script with it."""
    _codes.append(int(code or 0) if code is None or isinstance(code, int) else 1)
    if _VARIABLE in os.environ:
        _leave_operators_registered()
    _usual_exit(code)


def _leave_operators_registered() -> None:
    finalizers: Any = weakref.finalize
    for info in finalizers._registry.values():  # noqa: SLF001 - nothing else lists them
        if info.func.__module__ == "torch.library":
            info.atexit = False


def _end() -> None:
    if _codes and _VARIABLE in os.environ:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[-1])


sys.exit = _exit
atexit.register(_end)
