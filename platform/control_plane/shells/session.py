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
    _ahead: int = 0  # bytes of input that the command has not taken
    _used_at: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self) -> None:
        """Return when all is over, and both sides know."""
        try:
            self._run()
        except (redis.RedisError, OSError) as problem:
            extra = {"action": "shell", "job_id": self.order.job_id}
            _log.warning("A shell was cut off: %s", problem, extra=extra)
            self._end = self._end or ShellEnd.RELAY_LOST
        self.note_end(self.order, self._end or ShellEnd.WORKER_ENDED, exit_code=self._exit_code)

    def _run(self) -> None:
        self._used_at = self.clock()
        self.client.set(mailbox.alive(self.order.id), "1", ex=mailbox.ALIVE_SECONDS)
        try:
            stream = self.entrance.enter(self.order.worker, node=self.order.node)
        except WorkerHostError as problem:
            if isinstance(problem, WorkerNotThere):
                self._gone(str(problem))
            else:
                self._over(ShellEnd.CANNOT_START, str(problem))
            self._tell_end()
            return
        tending = threading.Thread(target=self._tend, args=(stream,), daemon=True)
        try:
            stream.write(attendant.packed(attendant.START, self._start()))
            tending.start()
            self._read(stream)
        except WorkerHostError as problem:
            self._over(ShellEnd.CANNOT_START, str(problem))
        except (ValueError, OSError) as problem:
            self._over(ShellEnd.WORKER_ENDED, f"The command cannot be heard any more: {problem}")
        finally:
            self._gone(f"{self.order.worker} has ended, and this with it.")
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
                    self._ahead -= int(payload)
                elif kind == ENDED:
                    self._exit_code = int(json.loads(payload)["exit_code"])
                    self._over(ShellEnd.EXITED, "")
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
        except (redis.RedisError, OSError, ValueError) as problem:
            self._over(ShellEnd.RELAY_LOST, f"The service lost this shell: {problem}")
        if self._end is not ShellEnd.EXITED:
            stream.hang_up()

    def _pass_on(self, stream: ShellStream) -> None:
        began, heard_at, marked_at, last = self.clock(), self.clock(), -mailbox.RENEW_SECONDS, 0
        while self._end is None:
            now = self.clock()
            if now - marked_at >= mailbox.RENEW_SECONDS:
                self.client.set(mailbox.alive(self.order.id), "1", ex=mailbox.ALIVE_SECONDS)
                marked_at = now
            self._look(began, heard_at, now)
            if self._end is not None or self._ahead >= attendant.MOST_AHEAD:
                time.sleep(_SLOW_SECONDS)
                continue
            found = self.client.blpop([mailbox.inputs(self.order.id)], timeout=_LOOK_SECONDS)
            if found is None:
                continue
            one = ShellInput.read(found[1])
            heard_at = self.clock()
            if one.number > last:
                last = one.number
                self._give(stream, one)

    def _look(self, began: float, heard_at: float, now: float) -> None:
        bounds = self.bounds
        if not self.client.exists(mailbox.held(self.order.id)):
            self._over(ShellEnd.CLIENT_LEFT, "The client has left.")
        elif now - heard_at > CLIENT_SECONDS:
            self._over(ShellEnd.CLIENT_LEFT, f"The client said nothing for {CLIENT_SECONDS:.0f} s.")
        elif now - began > bounds.longest_seconds:
            hours = bounds.longest_seconds / 3600
            self._over(ShellEnd.TOO_LONG, f"No shell lasts longer than {hours:g} hours here.")
        elif now - self._used_at > bounds.idle_seconds:
            minutes = bounds.idle_seconds / 60
            self._over(ShellEnd.IDLE, f"Nothing was typed or written for {minutes:g} minutes.")

    def _give(self, stream: ShellStream, one: ShellInput) -> None:
        if one.rows and one.columns:
            size = {"rows": one.rows, "columns": one.columns}
            stream.write(attendant.packed(attendant.SIZE, json.dumps(size).encode()))
        if one.signal:
            stream.write(attendant.packed(attendant.SIGNAL, one.signal.encode()))
        if one.data:
            self._used_at = self.clock()
            self._ahead += len(one.data)
            stream.write(attendant.packed(attendant.INPUT, one.data))
        if one.is_last:
            stream.write(attendant.packed(attendant.END_OF_INPUT))

    def _gone(self, message: str) -> None:
        """Say that the worker is, and why."""
        if self._end is None:
            self._over(ShellEnd.WORKER_ENDED, f"{message} {self.why_gone(self.order)}".strip())

    def _over(self, end: ShellEnd, message: str) -> None:
        """Say why it is over; who says it first is right."""
        with self._lock:
            if self._end is None:
                self._end, self._message = end, message

    def _tell_end(self) -> None:
        key = mailbox.outputs(self.order.id)
        end = self._end or ShellEnd.WORKER_ENDED
        self.client.rpush(key, ending(end, self._message, exit_code=self._exit_code))
        self.client.expire(key, mailbox.LIST_SECONDS)
