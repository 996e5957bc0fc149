"""How does a worker hear its coordinator while it trains? Through threads of their own.

One thread connects, says hello with the worker's whole status, and receives; whenever the
connection is gone it connects again. Another sends, so that no training step ever waits for a
socket. Training goes on without a coordinator.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from concertina_worker.collective.wires import Wires
from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link.pulse import Pulse
from concertina_worker.plan import GenerationPlan
from concertina_worker.protocol import MemberPhase
from concertina_worker.wire import (
    FromCoordinator,
    FromWorker,
    Message,
    PeerConnection,
    ProtocolError,
)

HEARTBEAT_SECONDS: Final = 1.0
RECONNECT_SECONDS: Final = 0.2
CONNECT_TIMEOUT_SECONDS: Final = 5.0
UNANSWERED_SECONDS: Final = 30.0  # guessed: above a network's hiccup
CLOSING_POLL_SECONDS: Final = 0.05

# A coordinator that has just taken over is told the newest of these again. Twice does no harm;
# never would: the service would wait for it, or the job's history would end too early.
_REPEATED: Final = (
    FromWorker.OUT_OF_MEMORY,
    FromWorker.LENGTH,
    FromWorker.BUILD_FAILED,
    FromWorker.SETTLED,
    FromWorker.CHECKPOINTED,
    FromWorker.PROGRESS,
    FromWorker.ERROR,
    FromWorker.LEAVING,
    FromWorker.GOODBYE,
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStatus:
    """What a coordinator that knows nothing must know of this worker."""

    phase: MemberPhase = MemberPhase.CONNECTED
    plan: GenerationPlan | None = None  # the generation it trains in, or left for good
    failed_in: int = 0
    model_bytes: int = 0
    is_sharded: bool = False  # it holds a part of the model, others the rest
    store: dict[str, Any] | None = None  # generation and address, if this worker opened one


class Control:
    """The worker's line to its coordinator."""

    def __init__(
        self,
        platform: Platform,
        pulse: Pulse,
        *,
        on_plan: Callable[[GenerationPlan], None],
        on_release: Callable[[], None],
    ) -> None:
        self._platform = platform
        self._pulse = pulse
        self._on_plan = on_plan
        self._on_release = on_release
        self._status = WorkerStatus()
        self._outbox: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._connection: PeerConnection | None = None
        self._changed = threading.Condition()
        self._stores: dict[int, str] = {}
        self._release_reason: str | None = None
        self._heard_at = time.monotonic()
        self._is_closing = False
        self._newest: dict[FromWorker, Message] = {}
        self._is_seen_off = False
        self.local_host = "127.0.0.1"

    def start(self) -> None:
        for target in (self._stay_connected, self._keep_sending):
            threading.Thread(
                target=target, name=f"concertina{target.__name__}", daemon=True
            ).start()

    def send(self, kind: FromWorker, **fields: Any) -> None:
        """Send this line; never blocks or locks, so it is safe in a signal handler.

        What is sent while there is no coordinator is lost, but for the status and `_REPEATED`.
        """
        message = {"type": kind, **fields}
        if kind in _REPEATED:
            self._newest[kind] = message
        self._outbox.put(message)

    def update_status(self, **changes: Any) -> None:
        """Change what the next hello will say."""
        with self._changed:
            self._status = replace(self._status, **changes)

    @property
    def release_reason(self) -> str | None:
        """Return why the coordinator told this worker to end; None: it did not."""
        return self._release_reason

    @property
    def silent_seconds(self) -> float:
        """The time without a coordinator."""
        return 0.0 if self._connection else time.monotonic() - self._heard_at

    def await_store(self, generation: int, wires: Wires, *, timeout_seconds: float) -> str:
        """The address of a generation's store, once its rank 0 has opened it.

        Raises:
            RuntimeError: it did not in time, or before the generation's `wires` were cut.
        """
        wires.when_cut(self._look_again)
        with self._changed:
            self._changed.wait_for(
                lambda: generation in self._stores or wires.are_cut, timeout=timeout_seconds
            )
            if generation not in self._stores:
                raise RuntimeError(f"nobody opened a store for generation {generation}")
            return self._stores[generation]

    def _look_again(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def close(self, *, answer_seconds: float, away_seconds: float) -> None:
        """Hang up once the coordinator has kept all it was told, or the time is over.

        Args:
            answer_seconds: for a coordinator that is there.
            away_seconds: for one that is not; counted from when it was heard last.
        """
        self.send(FromWorker.GOODBYE)
        deadline = time.monotonic() + answer_seconds
        with self._changed:
            while not self._is_seen_off:
                if self._connection is None and self.silent_seconds < away_seconds:
                    deadline = time.monotonic() + answer_seconds
                elif time.monotonic() > deadline or self._connection is None:
                    break
                self._changed.wait(CLOSING_POLL_SECONDS)
        self._is_closing = True
        if connection := self._connection:
            connection.close()

    # -- receiving -----------------------------------------------------------------------------

    def _stay_connected(self) -> None:
        while not self._is_closing:
            try:
                self._converse()
            except (OSError, ProtocolError):
                pass  # the coordinator is away; it, or the next one, will be back
            except Exception:  # noqa: BLE001 - a deaf worker would hold up all others
                _log.exception("A message could not be taken in action=connect_again")
            if self._connection:
                self._heard_at = time.monotonic()
                self._connection.close()
            self._connection = None
            time.sleep(RECONNECT_SECONDS)

    def _converse(self) -> None:
        """One connection, from hello to its end."""
        address = (self._platform.host, self._platform.port)
        stream = socket.create_connection(address, timeout=CONNECT_TIMEOUT_SECONDS)
        stream.settimeout(None)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _end_when_unanswered(stream)
        connection = PeerConnection(stream)
        self.local_host = connection.local_host
        with self._changed:
            connection.send(self._hello(self._status))
            self._connection = connection
        for kind in _REPEATED:
            if message_again := self._newest.get(kind):
                self._outbox.put(message_again)
        while message := connection.receive():
            self._take(message)

    def _hello(self, status: WorkerStatus) -> Message:
        return {
            "type": FromWorker.HELLO,
            "token": self._platform.token,
            "worker": self._platform.worker_id,
            "attempt": self._platform.attempt,
            "phase": status.phase,
            "plan": status.plan.to_json() if status.plan else None,
            "failed_in": status.failed_in,
            "model_bytes": status.model_bytes,
            "is_sharded": status.is_sharded,
            "store": status.store,
        }

    def _take(self, message: Message) -> None:
        match message["type"]:
            case FromCoordinator.PLAN:
                self._on_plan(GenerationPlan.from_json(message["plan"]))
            case FromCoordinator.STORE:
                with self._changed:
                    self._stores[int(message["generation"])] = str(message["address"])
                    self._changed.notify_all()
            case FromCoordinator.RELEASE:
                self.release(str(message["reason"]))
            case FromCoordinator.FAREWELL:
                with self._changed:
                    self._is_seen_off = True
                    self._changed.notify_all()

    def release(self, reason: str) -> None:
        """The others go on without this worker, or have ended."""
        self._release_reason = reason
        self._on_release()

    # -- sending -------------------------------------------------------------------------------

    def _keep_sending(self) -> None:
        beat_at = time.monotonic()
        while not self._is_closing:
            with contextlib.suppress(queue.Empty):
                seconds = max(beat_at - time.monotonic(), 0.0)
                self._deliver(self._outbox.get(timeout=seconds))
            if time.monotonic() >= beat_at:
                self._deliver({"type": FromWorker.HEARTBEAT, **self._pulse.beat()})
                beat_at = time.monotonic() + HEARTBEAT_SECONDS

    def _deliver(self, message: Message) -> None:
        if connection := self._connection:
            with contextlib.suppress(OSError):  # the receiving thread will notice
                connection.send(message)


def _end_when_unanswered(stream: socket.socket) -> None:
    """Let the kernel break a connection whose other machine is gone or takes nothing any more.

    No end is ever heard of those. A heartbeat a second sees to it that there is always something
    to be acknowledged (`TCP_USER_TIMEOUT`, tcp(7)); it counts for data that finds no room as well.
    """
    milliseconds = round(UNANSWERED_SECONDS * 1000)
    stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
