"""A worker's line to a coordinator that does not live, or has nothing to tell."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from concertina_worker.collective.wires import Wires
from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link import control
from concertina_worker.membership.coordinator_link.control import Control
from concertina_worker.membership.coordinator_link.pulse import Pulse
from concertina_worker.wire import FromWorker


def a_line_to(port: int) -> Control:
    platform = Platform(worker_id="w1", attempt=1, token="t", host="127.0.0.1", port=port)
    return Control(platform, Pulse(), on_plan=lambda _: None, on_release=lambda: None)


def test_a_coordinator_that_takes_nothing_any_more_is_connected_to_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(control, "UNANSWERED_SECONDS", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.settimeout(90.0)
        port = listener.getsockname()[1]
        line = a_line_to(port)
        line.start()
        stopped, _ = listener.accept()  # nobody reads here
        with stopped:
            for _ in range(200):
                line.send(FromWorker.ERROR, text="x" * 100_000)
            again, _ = listener.accept()
            again.close()
    line.close(answer_seconds=0.0, away_seconds=0.0)


def test_nobody_waits_for_a_store_of_a_generation_that_was_given_up() -> None:
    """A worker whose script fails would wait for that before it ends."""
    line, wires = a_line_to(1), Wires()
    with ThreadPoolExecutor() as pool:
        address = pool.submit(line.await_store, 2, wires, timeout_seconds=600.0)
        wires.cut()
        with pytest.raises(RuntimeError, match="generation 2"):
            address.result(timeout=90.0)
