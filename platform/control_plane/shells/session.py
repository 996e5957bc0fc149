"""What becomes of one shell? The command is started, and both sides hear each other until its end.

Two threads: one reads what the command writes, the other passes on what is typed, and looks every
second whether the shell should go on.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import redis
from cluster.shells import attendant
from cluster.shells.entrance import ShellStream, WorkerEntrance
from cluster.worker_host import WorkerHostError, WorkerNotThere

from control_plane.configuration.shell_settings import ShellSettings
from control_plane.shells import mailbox
from control_plane.shells.orders import (
    CLIENT_SECONDS,
    ENDED,
    MOST_OUTPUTS,
    ShellEnd,
    ShellInput,
    ShellOrder,
    ending,
)

_LOOK_SECONDS: Final = 1
_SLOW_SECONDS: Final = 0.05  # between two looks whether a slow reader has read
_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class ShellSession:
    """One shell, in the relay."""

    order: ShellOrder
    entrance: WorkerEntrance
    client: redis.Redis
    bounds: ShellSettings
    note_end: Callable[..., None]
    why_gone: Callable[[ShellOrder], str]
    clock: Callable[[], float] = time.monotonic
    _end: ShellEnd | None = None
    _message: str = ""
    _exit_code: int | None = None
    _given: int = 0  # bytes of input: one thread counts what it passed on,
    _taken: int = 0  # the other one what the command took
    _used_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Return when all is over, and both sides know."""
        extra = {"action": "shell", "job_id": self.order.job_id}
        try:
            self._run()
        except (redis.RedisError, OSError) as problem:
            _log.warning("A shell was cut off: %s", problem, extra=extra)
        except Exception:  # noqa: BLE001 - its end is told whatever happens
            _log.exception("A shell ended by a fault of ours.", extra=extra)
        finally:
            self.note_end(self.order, self._end or ShellEnd.RELAY_LOST, exit_code=self._exit_code)

    def end(self, end: ShellEnd, message: str) -> None:
        """Say why it is over; who says it first is right, and all ends within seconds."""
        with self._lock:
            if self._end is None:
                self._end, self._message = end, message

    def _run(self) -> None:
        self._used_at = self.clock()
        self.client.set(mailbox.alive(self.order.id), "1", ex=mailbox.ENTER_SECONDS)
        try:
            stream = self.entrance.enter(self.order.worker, node=self.order.node)
        except WorkerHostError as problem:
            if isinstance(problem, WorkerNotThere):
                self._gone(str(problem), unless_known=str(problem))
            else:
                self.end(ShellEnd.CANNOT_START, str(problem))
            self._tell_end()
            return
        tending = threading.Thread(target=self._tend, args=(stream,), daemon=True)
        try:
            stream.write(attendant.packed(attendant.START, self._start()))
            tending.start()
            self._read(stream)
        except WorkerHostError as problem:
            self.end(ShellEnd.CANNOT_START, str(problem))
        except (ValueError, KeyError, TypeError, OSError) as problem:  # not as an attendant speaks
            self.end(ShellEnd.WORKER_ENDED, f"The command cannot be heard any more: {problem}")
        finally:
            worker = self.order.worker
            self._gone(
                f"{worker} has ended, and this with it.",
                unless_known=f"{worker} has ended, or what ran this beside it was killed.",
            )
            try:
                self._tell_end()
            finally:
                if tending.is_alive():
                    tending.join()
                stream.close()

    def _start(self) -> bytes:
        order = self.order
        wanted = {
            "command": order.command,
            "is_terminal": order.is_terminal,
            "rows": order.rows,
            "columns": order.columns,
            "env": {"TERM": "xterm-256color"} if order.is_terminal else {},
        }
        return json.dumps(wanted).encode()

    def _read(self, stream: ShellStream) -> None:
        frames = attendant.ShellFrames()
        while True:
            data = stream.read()
            if data == b"":
                return
            for kind, payload in frames.feed(data) if data else ():
                if kind == attendant.TAKEN:
                    self._taken += int(payload)
                elif kind == ENDED:
                    self._exit_code = int(json.loads(payload)["exit_code"]) & 0xFF
                    self.end(ShellEnd.EXITED, "")
                    return
                else:
                    self._used_at = self.clock()
                    self._put(kind + payload)

    def _put(self, item: bytes) -> None:
        """Pass on what the command wrote; it waits while the reader is slow."""
        key = mailbox.outputs(self.order.id)
        while self._end is None:
            if self.client.llen(key) < MOST_OUTPUTS:
                self.client.rpush(key, item)
                self.client.expire(key, mailbox.LIST_SECONDS)
                return
            time.sleep(_SLOW_SECONDS)

    def _tend(self, stream: ShellStream) -> None:
        """Pass input on, and end the shell when it should not go on."""
        try:
            self._pass_on(stream)
        except (redis.RedisError, OSError, ValueError, TypeError) as problem:
            self.end(ShellEnd.RELAY_LOST, f"The service lost this shell: {problem}")
        finally:
            if self._end is not ShellEnd.EXITED:
                stream.hang_up()

    def _pass_on(self, stream: ShellStream) -> None:
        began, marked_at, last = self.clock(), -mailbox.RENEW_SECONDS, 0
        while self._end is None:
            now = self.clock()
            if now - marked_at >= mailbox.RENEW_SECONDS:
                self.client.set(mailbox.alive(self.order.id), "1", ex=mailbox.ALIVE_SECONDS)
                for waiting in (mailbox.inputs(self.order.id), mailbox.outputs(self.order.id)):
                    self.client.expire(waiting, mailbox.LIST_SECONDS)
                marked_at = now
            self._look(began, now)
            is_ahead = self._given - self._taken >= attendant.MOST_AHEAD
            if self._end is not None or is_ahead:
                time.sleep(_SLOW_SECONDS)
                continue
            found = self.client.blpop([mailbox.inputs(self.order.id)], timeout=_LOOK_SECONDS)
            if found is None:
                continue
            one = ShellInput.read(found[1])
            if one.number > last + 1:
                self.end(ShellEnd.RELAY_LOST, "A piece of what was sent is missing.")
            elif one.number > last:
                last = one.number
                self._give(stream, one)

    def _look(self, began: float, now: float) -> None:
        bounds, shell = self.bounds, self.order.id
        marks = (mailbox.held(shell), mailbox.heard(shell), mailbox.withdrawn(shell))
        held, heard, withdrawn = self.client.mget(marks)
        if withdrawn is not None:
            self.end(ShellEnd.WITHDRAWN, "Whoever opened it may not have it any more.")
        elif held is None:
            self.end(ShellEnd.CLIENT_LEFT, "The client has left.")
        elif heard is None:
            self.end(ShellEnd.CLIENT_LEFT, f"The client said nothing for {CLIENT_SECONDS} s.")
        elif now - began > bounds.longest_seconds:
            hours = bounds.longest_seconds / 3600
            self.end(ShellEnd.TOO_LONG, f"No shell lasts longer than {hours:g} hours here.")
        elif now - self._used_at > bounds.idle_seconds:
            minutes = bounds.idle_seconds / 60
            self.end(ShellEnd.IDLE, f"Nothing was typed or written for {minutes:g} minutes.")

    def _give(self, stream: ShellStream, one: ShellInput) -> None:
        if one.rows and one.columns:
            size = {"rows": one.rows, "columns": one.columns}
            stream.write(attendant.packed(attendant.SIZE, json.dumps(size).encode()))
        if one.signal:
            stream.write(attendant.packed(attendant.SIGNAL, one.signal.encode()))
        if one.data:
            self._used_at = self.clock()
            self._given += len(one.data)
            stream.write(attendant.packed(attendant.INPUT, one.data))
        if one.is_last:
            stream.write(attendant.packed(attendant.END_OF_INPUT))

    def _gone(self, message: str, *, unless_known: str) -> None:
        """Say that the worker is, and why; rows that do not say so may know it later."""
        if self._end is None:
            why = self.why_gone(self.order)
            self.end(ShellEnd.WORKER_ENDED, f"{message} {why}" if why else unless_known)

    def _tell_end(self) -> None:
        key = mailbox.outputs(self.order.id)
        end = self._end or ShellEnd.WORKER_ENDED
        self.client.rpush(key, ending(end, self._message, exit_code=self._exit_code))
        self.client.expire(key, mailbox.LIST_SECONDS)
