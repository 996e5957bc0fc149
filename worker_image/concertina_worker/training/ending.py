"""How does a script end, and who is told? By its last line, by `SystemExit`, or by an error."""

from __future__ import annotations

import atexit
import contextlib
import sys
import traceback
from types import TracebackType
from typing import NoReturn

from concertina_worker.batch.memory_limit import is_out_of_memory
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import Membership
from concertina_worker.protocol import ExitCode
from concertina_worker.training import advice
from concertina_worker.training.loop import TrainingLoop
from concertina_worker.training.progress import Progress
from concertina_worker.wire import FromWorker


class Ending:
    """Watches the end of the process from its beginning."""

    def __init__(self, membership: Membership | Alone, progress: Progress) -> None:
        self.loop: TrainingLoop | None = None  # once there is one
        self.has_entered = False  # training has begun
        self._membership = membership
        self._progress = progress
        self._is_finished = self._is_crash = False
        self._usual_hook = sys.excepthook
        sys.excepthook = self._on_crash
        atexit.register(self._at_exit)

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
        """The main worker does; all do when it may be the one just lost: they write the same."""
        return self._membership.rank == 0 or self._membership.is_broken

    def _on_crash(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        self._is_crash = True
        text = traceback.format_exception_only(kind, error)[-1].strip()
        what_to_do = advice.on(error)
        self._membership.tell(FromWorker.ERROR, text=f"{text} {what_to_do or ''}".strip())
        self._usual_hook(kind, error, trace)
        if what_to_do:
            sys.stderr.write(what_to_do + "\n")
        samples = self.loop.samples_at_once if self.loop and is_out_of_memory(error) else 0
        if samples > 1 and isinstance(self._membership, Membership):
            traceback.clear_frames(trace)  # they hold the memory
            self._make_way(samples)

    def _make_way(self, samples: int) -> NoReturn:
        """For a worker with smaller micro-batches; nothing is lost even if no other can go on."""
        self._membership.tell(FromWorker.OUT_OF_MEMORY, samples=samples)
        if self.loop is not None and self.loop.state.is_complete and self._keeps_the_state:
            with contextlib.suppress(MemoryError, RuntimeError):
                self.loop.write_checkpoint()
        sys.stderr.write(
            f"concertina: {samples} samples at once do not fit into memory; a worker with at most"
            f" {samples // 2} takes over\n"
        )
        raise SystemExit(int(ExitCode.OUT_OF_MEMORY))

    def _at_exit(self) -> None:
        has_stopped_early = self.has_entered and not self._is_crash
        if has_stopped_early and not self._membership.has_ended:
            self.finish()
        self._progress.flush()
        self._membership.close()
