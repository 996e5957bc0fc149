"""A worker's line to a coordinator that is connected, but does not live."""

from __future__ import annotations

import socket

import pytest

from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link import control
from concertina_worker.membership.coordinator_link.control import Control
from concertina_worker.membership.coordinator_link.pulse import Pulse
from concertina_worker.wire import FromWorker


def test_a_coordinator_that_takes_nothing_any_more_is_connected_to_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control, "UNANSWERED_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.settimeout(90.0)
        port = listener.getsockname()[1]
        platform = Platform(worker_id="w1", attempt=1, token="t", host="127.0.0.1", port=port)
        line = Control(platform, Pulse(), on_plan=lambda _: None, on_release=lambda: None)
        line.start()
        stopped, _ = listener.accept()  # nobody reads here
        with stopped:
            for _ in range(200):
                line.send(FromWorker.ERROR, text="x" * 100_000)
            again, _ = listener.accept()
            again.close()
    line.close(answer_seconds=0.0, away_seconds=0.0)
