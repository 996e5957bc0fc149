"""The raylet of this machine is told from those of others that are in the list of processes."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from cluster.ray_host.link.own_raylet import (
    SeenRaylet,
    await_end,
    is_here,
    own_address,
    seen_raylets,
)

HEAD = "10.9.0.2:6379"
OTHER = "10.8.0.2:6379"
HERE = ("10.9.0.1", "10.9.1.1", "127.0.0.1", "::1")


def own(*seen: tuple[str, str]) -> str | None:
    raylets = [SeenRaylet(address=address, head=head) for address, head in seen]
    return own_address(raylets, head=HEAD, has=HERE.__contains__)


@pytest.mark.parametrize(
    ("seen", "address"),
    [
        ([("10.9.0.1", HEAD), ("10.9.0.2", HEAD), ("10.9.0.3", HEAD)], "10.9.0.1"),
        ([("10.9.0.1", HEAD), ("10.9.0.2", HEAD), ("10.9.1.1", OTHER)], "10.9.0.1"),
        ([("10.9.0.1", "head:6379"), ("10.9.0.2", "head:6379")], "10.9.0.1"),
        ([("10.9.0.1", HEAD)], None),  # nobody to be mistaken for it
        ([("10.9.0.2", HEAD), ("10.9.0.3", HEAD)], None),  # nobody here: an address behind another
        ([("10.9.0.1", HEAD), ("10.9.1.1", HEAD), ("10.9.0.2", HEAD)], None),
        ([("127.0.0.1", HEAD), ("10.9.0.2", HEAD)], None),
        ([("::1", HEAD), ("10.9.0.2", HEAD)], None),
        ([("name", HEAD), ("10.9.0.2", HEAD)], None),
        ([], None),
    ],
)
def test_the_one_is_preferred_whose_address_is_of_this_machine(
    seen: list[tuple[str, str]], address: str | None
) -> None:
    assert own(*seen) == address


def test_raylets_are_read_from_the_list_of_processes(tmp_path: Path) -> None:
    def process(number: str, *words: str) -> None:
        (tmp_path / number).mkdir()
        (tmp_path / number / "cmdline").write_bytes("\0".join(words).encode() + b"\0")

    assert seen_raylets(tmp_path) is None
    process("self", "python")
    assert seen_raylets(tmp_path) == frozenset()
    options = ("--node_ip_address=10.9.0.1", f"--gcs-address={HEAD}")
    process("12", "/opt/ray/raylet/raylet", *options)
    process("13", "python", *options)
    process("14")
    (tmp_path / "15").mkdir()  # it ended
    assert seen_raylets(tmp_path) == {SeenRaylet(address="10.9.0.1", head=HEAD)}


def test_an_address_of_this_machine_can_be_bound_here() -> None:
    assert is_here("127.0.0.1")
    assert not is_here("203.0.113.1")  # for examples: nobody has it
    assert not is_here("no address")


def test_the_end_of_a_raylet_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "12" / "cmdline"
    file.parent.mkdir()
    file.write_bytes(b"/opt/ray/raylet/raylet\0--node_id=0123\0")
    assert not await_end("4567", tmp_path)
    monkeypatch.setattr(time, "sleep", lambda _: file.write_bytes(b""))  # as of one that ended
    assert await_end("0123", tmp_path)
