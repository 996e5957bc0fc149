"""How does a script end, and who is told? By its last line, by `SystemExit`, or by an error.

A script whose training is not through, and that did not call `job.finish`, has ended early: nobody
can tell that from a training that is done but by the exit code, so it gets one of its own.

An error reaches the top, or the script handles it and calls `sys.exit(1)`, as hydra and click do:
training that ends so has failed, too.
"""

from __future__ import annotations

import atexit
import builtins
import contextlib
import logging
import os
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, NoReturn

from concertina_worker.batch.memory_limit import is_out_of_memory
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.protocol import ExitCode
from concertina_worker.training.loop import TrainingLoop
from concertina_worker.training.reporting.progress import ProgressReporter
from concertina_worker.training.script_checks import advice
from concertina_worker.wire import FromWorker


class TrainingEnd:
    """The end of a training, and of the process if it is told to `watch` it."""

    def __init__(self, membership: WorkerMembership | Alone, progress: ProgressReporter) -> None:
        self.loop: TrainingLoop | None = None  # once there is one
        self.has_entered = False  # training has begun
        self.progress = progress
        self.on_last_line: Callable[[], None] = lambda: None
        self.is_wanted = False  # by the script, whatever its epochs
        self.what_is_left: Callable[[], str] = self._what_is_left  # empty: nothing
        self._membership = membership
        self._is_finished = self._is_crash = self._has_called_exit = False
        self._failure = ""  # for which the script ends by itself
        self._process = os.getpid()
        self._usual_exit = sys.exit
        self._hook: Any = None

    def watch(self) -> None:
        """Watch the end of the process, from its beginning."""
        sys.exit = self._exit
        for name in ("exit", "quit"):  # which raise SystemExit by themselves
            setattr(builtins, name, self._exit)
        self._watch_errors()
        atexit.register(self._at_exit)

    def begin(self) -> None:
        """Training does."""
        self.has_entered = True
        if self._hook is not None:
            self._watch_errors()

    def finish(self) -> None:
        """The training is over: keep it, and tell."""
        if self._is_finished or self.loop is None:
            return
        self._is_finished = True
        if self._keeps_the_state:
            self.loop.write_checkpoint()
        self._membership.finish()

    @property
    def _keeps_the_state(self) -> bool:
        """The main worker does; all do when it may be the one just lost: they write the same.

        In parts all do, or none.
        """
        is_complete = self.loop is not None and self.loop.state.is_complete
        if self.loop is not None and self.loop.state.parts is not None:
            return is_complete and not self._membership.is_broken
        return is_complete and (self._membership.rank == 0 or self._membership.is_broken)

    def _watch_errors(self) -> None:
        """See errors before whoever prints them; `rich` and others may have come since `init`."""
        usual = sys.excepthook
        if usual is self._hook:
            return

        def hook(
            kind: type[BaseException], error: BaseException, trace: TracebackType | None
        ) -> None:
            is_first, self._is_crash = not self._is_crash, True
            if is_first:
                self._tell_error(_text_of(error))
            usual(kind, error, trace)
            if is_first:
                self._help(error)

        self._hook = sys.excepthook = hook

    def _exit(self, code: Any = None, /) -> NoReturn:
        """Do what `sys.exit` does; the error that a script handles by it is remembered."""
        is_own = os.getpid() == self._process and _is_main_thread()
        self._has_called_exit = self._has_called_exit or is_own
        if code not in (None, 0) and is_own and not self._is_crash:
            error = sys.exc_info()[1]
            if isinstance(error, SystemExit):  # passed on by `python_program`
                error = error.__context__
            self._failure = _text_of(error) if error else f"The script called sys.exit({code!r})."
            if error is not None:
                self._help(error)
        self._usual_exit(code)

    def _tell_error(self, text: str) -> None:
        self._membership.tell(FromWorker.ERROR, text=text)

    def _help(self, error: BaseException) -> None:
        """Help with advice, and by making way for a worker whose batches fit into memory."""
        if what_to_do := advice.on(error):
            sys.stderr.write(what_to_do + "\n")
        samples = self.loop.samples_at_once if self.loop and is_out_of_memory(error) else 0
        if samples > 1 and isinstance(self._membership, WorkerMembership):
            traceback.clear_frames(error.__traceback__)  # they hold the memory
            self._make_way(samples)

    def _make_way(self, samples: int) -> NoReturn:
        """Make way for a worker with smaller micro-batches; nothing is lost if none can go on."""
        self._membership.tell(FromWorker.OUT_OF_MEMORY, samples=samples)
        is_whole = self.loop is not None and self.loop.state.parts is None
        if self.loop is not None and is_whole and self._keeps_the_state:
            with contextlib.suppress(MemoryError, RuntimeError):
                self.loop.write_checkpoint()
        sys.stderr.write(
            f"concertina: {samples} samples at once do not fit into memory; a worker with at most"
            f" {samples // 2} takes over\n"
        )
        raise SystemExit(int(ExitCode.OUT_OF_MEMORY))

    def _at_exit(self) -> None:
        left = ""
        if not (self._is_crash or self._membership.has_ended):
            shown = getattr(sys, "last_value", None)  # by a hook that took the place of ours
            failure = _text_of(shown) if shown else self._failure
            if failure:
                self._tell_error(failure)
            else:
                left = self._what_nobody_trained()
                if self.has_entered:
                    self.on_last_line()
                    self.finish()
        self.progress.flush()
        self._membership.close()
        if left:
            _exit_early(left)

    def _what_nobody_trained(self) -> str:
        """Return what a worker of the platform left untrained; alone, a script ends as it likes."""
        is_own = isinstance(self._membership, WorkerMembership) and os.getpid() == self._process
        is_asked = is_own and not self.is_wanted and self._is_sure_of_its_code
        return self.what_is_left() if is_asked else ""

    @property
    def _is_sure_of_its_code(self) -> bool:
        """False where a script may have raised SystemExit itself, whose code nobody sees here."""
        if self._has_called_exit:
            return True
        script = Path(getattr(sys.modules["__main__"], "__file__", None) or "")
        return not (script.is_file() and "SystemExit" in script.read_text(errors="replace"))

    def _what_is_left(self) -> str:
        """All of it: there are no epochs yet."""
        return "before job.register" if self.loop is None else "before its epochs began"


def _exit_early(left: str) -> NoReturn:
    """Exit with a code that no script returns by itself: Python lets nobody change it here.

    Whatever else wants to run at the exit did so, but for what was registered before `init`.
    """
    sys.stderr.write(
        f"concertina: the script ended {left}, and without job.finish(). If its training is over"
        " then, let it call job.finish() first.\n"
    )
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(ExitCode.ENDED_EARLY))


def _text_of(error: BaseException) -> str:
    text = traceback.format_exception_only(error)[-1].strip()
    return f"{text} {advice.on(error) or ''}".strip()


def _is_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
