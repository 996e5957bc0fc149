"""A coordinator looks out for a process group that its workers form by themselves."""

from __future__ import annotations

import asyncio
import socket
from datetime import timedelta

import pytest
import torch.distributed as dist

from concertina_worker.coordinator import foreign_group
from concertina_worker.coordinator.foreign_group import is_open, look_out
from concertina_worker.coordinator.knowledge.memory import Memory
from concertina_worker.coordinator.machine import Coordination

HOST = "127.0.0.1"


def coordination() -> Coordination:
    return Coordination(Memory(), now=0.0)


def test_a_store_of_pytorch_is_seen_and_goes_on_as_if_nobody_had_looked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(foreign_group, "_CONNECT_SECONDS", 600.0)
    monkeypatch.setattr(foreign_group, "LOOK_SECONDS", 600.0)  # it is seen at the first look
    waits = timedelta(seconds=30)
    store = dist.TCPStore(HOST, 0, None, is_master=True, timeout=waits, wait_for_workers=False)
    mind = coordination()
    asyncio.run(look_out(mind, HOST, store.port))
    assert mind.sees_foreign_group
    assert mind.sync_report()["process_group"] is True
    other = dist.TCPStore(HOST, store.port, None, is_master=False, timeout=waits)
    other.set("from", "another")
    assert store.get("from") == b"another"


def test_a_port_where_nobody_listens_is_no_group() -> None:
    with socket.socket() as held:  # else somebody else might get it meanwhile
        held.bind((HOST, 0))
        assert not asyncio.run(is_open(*held.getsockname()))


def test_nobody_looks_any_more_once_the_script_has_registered() -> None:
    mind = coordination()
    mind.memory.is_registered = True
    asyncio.run(look_out(mind, HOST, 1))
    assert not mind.sees_foreign_group
