"""How may a worker of a test end? At once, after all that wants to run at its exit.

Python takes down what it has imported, module by module. In a fork of the zygote each page of that
is copied first: a quarter of a second of a processor, half of what a worker of a short test takes.
The zygote of the tests imports this module before all others, so its exit function is the last.
"""

from __future__ import annotations

import atexit
import os
import sys
from typing import Any, Final, NoReturn

_VARIABLE: Final = "TESTS_BRIEF_END"
_usual_exit = sys.exit
_codes: list[int] = []


def _exit(code: Any = None, /) -> NoReturn:
    """`python_program` ends every script with it."""
    _codes.append(int(code or 0) if code is None or isinstance(code, int) else 1)
    _usual_exit(code)


def _end() -> None:
    if _codes and _VARIABLE in os.environ:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(_codes[-1])


sys.exit = _exit
atexit.register(_end)
