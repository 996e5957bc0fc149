"""What an admin is told of a Ray cluster, by a program that changes nothing there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cluster.following.roster import Roster, RosterMachine
from cluster.ray_host import wire
from cluster.ray_host.inspection import lines_of
from local_stack.checkout import Checkout
from local_stack.commands import doctor
from local_stack.commands.doctor import Level

FINE: dict[str, Any] = {"answer": {"complaints": []}}
ADDRESS = "head:6379"


def machine(name: str, *, gpus: int = 8, pool: str = "h100", leaving: str = "") -> RosterMachine:
    labels = {"concertina.io/pool": pool} if pool else {}
    return RosterMachine(
        name=name, address="10.0.0.1", labels=labels, gpus=gpus, cpus=gpus, leaving_because=leaving
    )


HEAD = machine("head", gpus=0, pool="")
CASES: dict[str, tuple[Roster, dict[str, Any], dict[str, str], list[tuple[str, str]]]] = {
    "all is well": (
        Roster(machines=(HEAD, machine("a"), machine("b"))),
        {"a": FINE},
        {"b": wire.NOT_LOOKED_AT, "head": wire.NOT_LOOKED_AT},
        [("ok", "2 nodes with 16 GPUs: a, b")],
    ),
    "a head alone": (Roster(machines=(HEAD,)), {}, {}, [("fail", "has no node with GPUs")]),
    "a node that is not fit": (
        Roster(machines=(machine("a"),)),
        {},
        {"a": "CONCERTINA_STATE is another one"},
        [("ok", "1 nodes"), ("warn", "Ray node a: CONCERTINA_STATE is")],
    ),
    "an agent of another release": (
        Roster(machines=(machine("a"),)),
        {"a": {"unavailable": "version 7"}},
        {},
        [("ok", "1 nodes"), ("warn", "Ray node a: version 7")],
    ),
    "a clock that is behind": (
        Roster(machines=(machine("a"),)),
        {"a": {"answer": {"complaints": ["The clock is 5 s behind."]}}},
        {},
        [("ok", "1 nodes"), ("warn", "Ray node a: The clock is")],
    ),
    "two of one name": (
        Roster(machines=(machine("a"), machine("a")), unusable={"a": "several Ray nodes"}),
        {},
        {"a": "several Ray nodes"},
        [("ok", "2 nodes"), ("warn", "Ray node a: several Ray nodes")],
    ),
    "nodes of different sizes": (
        Roster(machines=(machine("a"), machine("b", gpus=4), machine("c", gpus=2, pool="t4"))),
        {},
        {},
        [("ok", "3 nodes"), ("warn", "concertina.io/pool=h100 have different numbers of GPUs (4")],
    ),
    "one that leaves": (
        Roster(machines=(machine("a", leaving="Ray drains it"),)),
        {"a": FINE},
        {},
        [("ok", "1 nodes"), ("warn", "Ray node a: Ray drains it")],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_found_is_said(case: str) -> None:
    roster, answers, silent, expected = CASES[case]
    found = list(lines_of(roster, answers, silent, address=ADDRESS))
    assert [line.level for line in found] == [level for level, _ in expected]
    for line, (_, words) in zip(found, expected, strict=True):
        assert words in line.text


def test_of_many_nodes_some_are_named() -> None:
    many = Roster(machines=tuple(machine(f"n{number:03}") for number in range(300)))
    (line,) = lines_of(many, {}, {}, address=ADDRESS)
    assert line.text.endswith("n009, and 290 more")


def inspected(folder: Path, **variables: str) -> list[dict[str, str]]:
    ran = subprocess.run(
        (sys.executable, "-P", "-m", "cluster.ray_host.inspection"),
        env={"PATH": os.environ["PATH"], "CONCERTINA_STATE": str(folder), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in ran.stdout.splitlines()]


def test_what_is_not_configured_and_who_is_not_there_is_said(tmp_path: Path) -> None:
    (line,) = inspected(tmp_path, CONCERTINA_RAY_ADDRESS="127.0.0.1:1")
    assert (line["level"], "CONCERTINA_RAY_TOKEN_FILE is not set" in line["text"]) == ("fail", True)
    nobody = {"CONCERTINA_RAY_ADDRESS": "127.0.0.1:1", "CONCERTINA_RAY_UNPROTECTED": "yes"}
    (line,) = inspected(tmp_path, **nobody)
    assert (line["level"], "nobody answers at 127.0.0.1:1" in line["text"]) == ("fail", True)


def test_a_state_folder_that_cannot_be_read_is_said_and_none_is_made(tmp_path: Path) -> None:
    nobody = {"CONCERTINA_RAY_ADDRESS": "127.0.0.1:1", "CONCERTINA_RAY_UNPROTECTED": "yes"}
    inspected(tmp_path / "state", **nobody)
    assert not (tmp_path / "state").exists()
    (tmp_path / "ray").mkdir()
    (tmp_path / "ray" / "word.json").write_text("{")
    (line,) = inspected(tmp_path, **nobody)
    assert (line["level"], "cannot be read" in line["text"]) == ("fail", True)


def test_doctor_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = Path(__file__).parents[4]
    checkout = Checkout(root=root, state_dir=tmp_path, runtime_dir=tmp_path)
    for name in (*doctor.RAY_VARIABLES, "CONCERTINA_WORKER_HOST"):
        monkeypatch.delenv(name, raising=False)
    (line,) = doctor.check_ray(checkout)
    assert (line.level, "./dev up --host ray" in line.text) == (Level.OK, True)
    monkeypatch.setenv("CONCERTINA_WORKER_HOST", "ray")
    (line,) = doctor.check_ray(checkout)
    assert (line.level, "CONCERTINA_RAY_ADDRESS=''" in line.text) == (Level.FAIL, True)
    monkeypatch.setenv("CONCERTINA_RAY_ADDRESS", "ray://head:10001")
    (line,) = doctor.check_ray(checkout)
    assert (line.level, "ray start --address=HOST:PORT" in line.text) == (Level.FAIL, True)
