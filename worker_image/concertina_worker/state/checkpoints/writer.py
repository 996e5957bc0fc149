"""When are checkpoints written? Every so often, and when one is among the best."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any

from concertina_worker.checkpoint_files import CheckpointDescription, CheckpointName
from concertina_worker.environment import CheckpointRules
from concertina_worker.process import background
from concertina_worker.state.checkpoints import checkpoint, keeping

_log = logging.getLogger(__name__)


class CheckpointWriter:
    """Writes a checkpoint every so often, in the background."""

    def __init__(self, rules: CheckpointRules, on_written: Callable[[int], None]) -> None:
        """`on_written(step)` is called, from a thread, when a checkpoint is complete."""
        self._rules = rules
        self._on_written = on_written
        self._newest_at = time.monotonic()
        self._newest: CheckpointDescription | None = None
        self._thread: threading.Thread | None = None

    def load_newest(self) -> dict[str, Any] | None:
        return checkpoint.load_newest(self._rules.folder)

    def has(self, step: int) -> bool:
        """Somebody has written it, be it another worker."""
        rules = self._rules
        name = CheckpointName(step=step, start=rules.start, epoch=rules.epoch)
        return (rules.folder / name.state).exists()

    def would_keep(self, metric: str, value: float) -> bool:
        """True if a checkpoint would be among the best because of this value."""
        best = self._rules.keep_best
        if best is None or best.metric != metric:
            return False
        return keeping.is_among_the_best(self._rules.folder, value, best)

    @property
    def is_due(self) -> bool:
        is_long_ago = time.monotonic() - self._newest_at >= self._rules.interval_seconds
        return is_long_ago and not self.is_busy

    def begin_interval(self) -> None:
        """One is written now, be it by others."""
        self._newest_at = time.monotonic()

    @property
    def is_busy(self) -> bool:
        """One is being written."""
        return self._thread is not None and self._thread.is_alive()

    def write_in_background(
        self, content: dict[str, Any], description: CheckpointDescription
    ) -> None:
        self.wait()
        self._newest_at = time.monotonic()
        self._thread = background.start("concertina_checkpoint", self._write, content, description)

    def write_now(self, content: dict[str, Any], description: CheckpointDescription) -> None:
        """Return when it is on disk."""
        self.wait()
        if self._tells_more(description):
            self._write(content, description)

    def wait(self) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _tells_more(self, description: CheckpointDescription) -> bool:
        """True of another step than the newest, or with the value that says how good it is."""
        newest, best = self._newest, self._rules.keep_best
        if newest is None or newest.step != description.step:
            return True
        return best is not None and newest.measured(best.metric) != description.measured(
            best.metric
        )

    def _write(self, content: dict[str, Any], description: CheckpointDescription) -> None:
        rules = self._rules
        try:
            checkpoint.write(
                rules.folder,
                content,
                description,
                keep_last=rules.keep_last,
                keep_best=rules.keep_best,
                start=rules.start,
                epoch=rules.epoch,
            )
        except (OSError, RuntimeError) as error:
            _log.warning(
                "The checkpoint of step %d could not be written, the training goes on without it: "
                "%s action=go_on",
                description.step,
                error,
            )
            return
        self._newest = description
        self._on_written(description.step)
