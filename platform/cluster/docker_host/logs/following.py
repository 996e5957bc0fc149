"""Whose logs are copied, and which are complete? What a service process knows of its copier.

The copier is a program of its own, started again should it die. What our disk refuses is tried
again when the container is listed again, and a container stays until its log is copied; but nobody
waits for a full disk to forget a process.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from cluster.docker_host.logs.copying import LogSource, is_complete
from cluster.files.lock_files import is_held
from cluster.logs.log_files import LogBounds
from cluster.source_root import SOURCE_ROOT

_POLL_SECONDS: Final = 0.01
_RESTART_SECONDS: Final = 1.0  # guessed: between two starts of a copier that dies

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True)
class _CopierState:
    """What is known of one copier."""

    process_ids: dict[str, str] = field(default_factory=dict)  # of what it copies, by container
    problems: dict[str, tuple[str, bool]] = field(
        default_factory=dict
    )  # its last, and if it is lost
    is_over: bool = False


class _Copier:
    """The program, which ends when nobody knows this object any more, or its process dies."""

    def __init__(self, settings: dict[str, Any], problems: dict[str, tuple[str, bool]]) -> None:
        reader, writer = os.pipe()
        self._writer = writer
        self._end = weakref.finalize(self, os.close, writer)  # also where no process can be had
        path = os.pathsep.join([str(SOURCE_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        try:
            process = subprocess.Popen(
                (sys.executable, "-m", "cluster.docker_host.logs.copier"),
                stdin=reader,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
                start_new_session=True,
            )
        except OSError:
            self._end()
            raise
        finally:
            os.close(reader)
        os.set_blocking(writer, False)
        self.heard = _CopierState(problems=problems)
        threading.Thread(target=_listen, args=(process, self.heard), daemon=True).start()
        self._order(settings)

    def follow(self, source: LogSource) -> None:
        self.heard.process_ids[source.container] = source.labels.process_id
        if not self._order(source.as_document()):
            del self.heard.process_ids[source.container]  # at the next look, then

    def close(self) -> None:
        self._end()

    def _order(self, document: dict[str, Any]) -> bool:
        """Send it; true if it was taken. A pipe takes so short an order whole or not at all."""
        with contextlib.suppress(BlockingIOError, BrokenPipeError):
            os.write(self._writer, (json.dumps(document) + "\n").encode())
            return True
        return False


@dataclass(slots=True, kw_only=True)
class Followers:
    """One service process's copier, and what it has to copy."""

    state_dir: Path
    answer_seconds: float
    bounds: LogBounds
    _copier: _Copier | None = None
    _started_at: float = -_RESTART_SECONDS
    _problems: dict[str, tuple[str, bool]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get_ready(self) -> _Copier | None:
        """Have a copier; None: the last one died a moment ago, or none can be had now."""
        with self._lock:
            if self._copier is not None and not self._copier.heard.is_over:
                return self._copier
            if time.monotonic() - self._started_at < _RESTART_SECONDS:
                return None
            self._started_at = time.monotonic()
            settings = {
                "state_dir": str(self.state_dir),
                "answer_seconds": self.answer_seconds,
                "bounds": asdict(self.bounds),
            }
            self._copier = _started(settings, self._problems)
            return self._copier

    def follow(self, source: LogSource) -> None:
        """See that the container's log is copied, to its end."""
        if is_complete(source):
            self._problems.pop(source.container, None)
            return
        if self._is_ours(source) or is_held(source.record.log_lock_path):
            return
        copier = self.get_ready()
        with self._lock:
            if copier is not None and source.container not in copier.heard.process_ids:
                copier.follow(source)

    def await_complete(self, sources: Iterable[LogSource], *, seconds: float) -> bool:
        """Wait for what is copied of these ended containers; whether nothing more will come."""
        give_up_at = time.monotonic() + seconds
        over = [self._await_one(source, give_up_at) for source in sources]
        return all(over)

    def _is_ours(self, source: LogSource) -> bool:
        """True if our copier is at it; else another service process's may be."""
        heard = None if self._copier is None else self._copier.heard
        return heard is not None and not heard.is_over and source.container in heard.process_ids

    def _is_given_up(self, source: LogSource) -> bool:
        """True if the copier is through with it: the container is gone, or the disk is full."""
        said, is_lost = self._problems.get(source.container, ("nobody copies it", False))
        return not said or is_lost

    def close(self) -> None:
        with self._lock:
            if self._copier is not None:
                self._copier.close()
                self._copier = None

    def _await_one(self, source: LogSource, give_up_at: float) -> bool:
        while not is_complete(source):
            if not self._is_ours(source) and not is_held(source.record.log_lock_path):
                return is_complete(source) or self._is_given_up(source)
            if time.monotonic() >= give_up_at:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def _started(settings: dict[str, Any], problems: dict[str, tuple[str, bool]]) -> _Copier | None:
    """None: the machine has no process, thread or descriptor left; it is tried again later."""
    try:
        return _Copier(settings, problems)
    except (OSError, RuntimeError) as problem:
        extra = {"action": "copy_log"}
        _log.warning("Nothing can copy logs now, later perhaps: %s", problem, extra=extra)
        return None


def _listen(process: subprocess.Popen[bytes], heard: _CopierState) -> None:
    """Listen until the copier ends. What is no report is shown to people and skipped."""
    try:
        with process:
            for line in process.stdout or ():
                try:
                    _hear(json.loads(line), heard)
                except (ValueError, KeyError, TypeError):
                    extra = {"action": "copy_log"}
                    _log.warning("The copier of logs said %.200r.", line, extra=extra)
    finally:
        heard.is_over = True


def _hear(document: dict[str, Any], heard: _CopierState) -> None:
    """Tell people what went wrong, once however often it is tried."""
    container = document["container"]
    who = heard.process_ids.get(container, container)
    extra = {"action": "copy_log", "process_id": who}
    if "complaint" in document:
        said = document["complaint"]
        _log.warning("Docker cannot read the log of %s: %s", who, said, extra=extra)
        return
    said, is_lost = document["problem"], document["is_lost"]
    before, _ = heard.problems.get(container, ("", False))
    if said and said != before:
        what = "A log is not copied for want of room" if is_lost else "A log is copied later"
        _log.warning("%s: %s", what, said, extra=extra)
    heard.problems[container] = (said, is_lost)
    heard.process_ids.pop(container, None)
