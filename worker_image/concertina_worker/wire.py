"""How do coordinator and workers talk? In lines of JSON, each an object with a `type`.

Standard library only. The kinds of message stand here, in one place, with what they carry.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from enum import StrEnum
from typing import Any

Message = dict[str, Any]


class FromWorker(StrEnum):
    """What a worker tells the coordinator."""

    HELLO = "hello"  # first line of a connection: token and the worker's whole status
    READY = "ready"  # registered and warm: model_bytes
    STORE = "store"  # rank 0 opened the rendezvous of a generation: generation, address
    BUILD_FAILED = "build_failed"  # the group of a plan could not be built: generation
    SWITCHED = "switched"  # this worker left the old generation for: generation, step,
    # lost_steps (made before that are to be made again, as far as the members know)
    SETTLED = "settled"  # the state has moved: generation, stall_seconds, transfer_seconds
    FAILED = "failed"  # a collective of this generation broke: generation, step
    PROGRESS = "progress"  # metric (a MetricReport), measurement (a MeasurementReport or None),
    # noise_scale (samples, or None)
    OUT_OF_MEMORY = "out_of_memory"  # samples: of a micro-batch that does not fit
    PACE = "pace"  # of its own share: generation, steps, samples, compute_seconds
    LENGTH = "length"  # total_samples of all epochs
    CHECKPOINTED = "checkpointed"  # step
    LEAVING = "leaving"  # was asked to end (SIGTERM)
    FINISHED = "finished"  # ran through the last epoch: step
    ERROR = "error"  # the script raised: text
    WARNING = "warning"  # something in the script is to be looked at: text
    GPU = "gpu"  # use (a GpuUse), at most once a second
    GOODBYE = "goodbye"  # the last message: nothing more will come
    HEARTBEAT = "heartbeat"  # once a second: place, seconds there, steps in this generation


class ScriptPlace(StrEnum):
    """Where a worker's main thread is, as its heartbeats tell."""

    COMPUTING = "computing"  # in a step, before the exchange
    WAITING = "waiting"  # in a step, for the other members
    ELSEWHERE = "elsewhere"  # anywhere else: nobody may say how long it takes


class FromCoordinator(StrEnum):
    """What the coordinator tells a worker."""

    PLAN = "plan"  # plan
    STORE = "store"  # generation, address
    RELEASE = "release"  # leave with ExitCode.RELEASED: reason
    FAREWELL = "farewell"  # all you told is kept: end in peace


def encode(message: Message) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Message:
    message = json.loads(line)
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ProtocolError(f"not a message: {line[:80]!r}")
    return message


class PeerConnection:
    """One end of a conversation over a socket; any thread may send, one thread receives."""

    def __init__(self, stream: socket.socket) -> None:
        self._socket = stream
        self._lines = stream.makefile("rb")
        self._sending = threading.Lock()

    @property
    def local_host(self) -> str:
        """The address by which the other end sees this machine."""
        return str(self._socket.getsockname()[0])

    def send(self, message: Message) -> None:
        """Raises OSError when the other end is gone."""
        with self._sending:
            self._socket.sendall(encode(message))

    def receive(self) -> Message | None:
        """Block for the next message; None once the other end has closed.

        Raises:
            OSError: the connection broke, or was silent for longer than the socket's timeout.
        """
        line = self._lines.readline()
        return decode(line) if line.endswith(b"\n") else None

    def close(self) -> None:
        with contextlib.suppress(OSError):  # the other end was faster
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class ProtocolError(Exception):
    """A line that is no message."""
