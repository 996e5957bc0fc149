"""How does a script end, and who is told? By its last line, by `SystemExit`, or by an error."""

from __future__ import annotations

import atexit
import sys
import traceback
from collections.abc import Callable
from types import TracebackType

from concertina_worker.training import advice


class Ending:
    """Watches the end of the process."""

    def __init__(
        self,
        *,
        tell_error: Callable[[str], None],
        after_crash: Callable[[BaseException, TracebackType | None], None],
        at_exit: Callable[[], None],
    ) -> None:
        """`tell_error` gets the error's last line, with advice if there is any."""
        self.is_crash = False
        self._tell_error = tell_error
        self._after_crash = after_crash
        self._before = sys.excepthook
        sys.excepthook = self._on_crash
        atexit.register(at_exit)

    def _on_crash(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self.is_crash = True
        text = traceback.format_exception_only(kind, error)[-1].strip()
        what_to_do = advice.on(error)
        self._tell_error(f"{text} {what_to_do}" if what_to_do else text)
        self._before(kind, error, trace)
        if what_to_do:
            sys.stderr.write(what_to_do + "\n")
        self._after_crash(error, trace)
