"""A collective whose other side is silent ends at once when the group's sockets are cut."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable

import pytest
import torch

from concertina_worker.collective.group import Group, GroupLostError, broadcast
from concertina_worker.collective.store import Board, GlooStore
from concertina_worker.collective.wires import Wires, addresses_in
from tests.worker.gathering import a_plan, gather


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 90
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_members_that_wait_for_a_silent_one_are_freed() -> None:
    over = threading.Event()

    def act(group: Group) -> str:
        if group.worker == "c":  # neither takes part nor goes away
            return "silent" if over.wait(90) else "waited in vain"
        if group.worker == "a":
            threading.Timer(0.2, group.wires.cut).start()
        try:
            group.sum(torch.ones(3))
        except RuntimeError:
            return "freed"
        finally:
            over.set()
        return "done"

    assert gather(a_plan("abc"), act) == {"a": "freed", "b": "freed", "c": "silent"}


def test_members_are_freed_in_the_middle_of_a_message() -> None:
    """Gloo itself forgets whoever waits for the rest of it."""
    tries = (errors_of_a_message_cut_when_begun() for _ in range(20))
    errors = next(errors for errors in tries if all(errors.values()))  # the cut came in time
    assert not any("Timed out" in error for error in errors.values())


def errors_of_a_message_cut_when_begun() -> dict[str, str]:
    """Of its sender and its receiver; empty if it was faster."""
    tensors = {"a": torch.ones(2**25), "b": torch.zeros(2**25)}

    def cut_when_begun(group: Group) -> None:
        until(lambda: bool(tensors["b"][0]))
        group.wires.cut()

    def act(group: Group) -> str:
        threading.Thread(target=cut_when_begun, args=(group,)).start()
        try:
            broadcast(group.everyone, tensors[group.worker], root=0)
        except GroupLostError as error:
            return str(error)
        return ""

    return gather(a_plan("ab"), act)


def test_other_sockets_of_the_process_are_left_alone() -> None:
    have_met = threading.Barrier(2)

    def act(group: Group) -> None:
        have_met.wait(90)
        group.wires.cut()

    one, other = socket.socketpair()
    with socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        with one, other, client, accepted:
            gather(a_plan("ab"), act)
            one.sendall(b"x")
            client.sendall(b"y")
            assert other.recv(1) == b"x"
            assert accepted.recv(1) == b"y"


def test_nobody_waits_for_an_address_in_a_group_that_was_given_up() -> None:
    wires = Wires()
    store = GlooStore(Board(), wires, prefix="", timeout_seconds=60.0)
    threading.Timer(0.1, wires.cut).start()
    with pytest.raises(RuntimeError, match="given up"):
        store.get("never told")


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "10.1.2.3"), (socket.AF_INET6, "fe80::1")]
)
def test_addresses_are_found_in_what_gloo_tells(family: int, host: str) -> None:
    flow = b"\0" * 4 if family == socket.AF_INET6 else b""
    packed = socket.inet_pton(family, host)
    name = family.to_bytes(2, "little") + (4711).to_bytes(2, "big") + flow + packed
    assert (host, 4711) in addresses_in(b"\1" * 18 + name + b"\0" * 120)
