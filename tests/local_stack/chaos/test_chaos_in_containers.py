"""What chaos chooses, finds and says where jobs run in containers on two nodes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest
from local_stack.chaos import faults
from local_stack.chaos.checks import absences, noticing
from local_stack.chaos.containers import earlier, machines, seen
from local_stack.chaos.containers.machine import ChaosMachine, container_of
from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.faults import (
    ABSENCE_SECONDS,
    IN_CONTAINERS,
    NODE_LOST_SECONDS,
    OF_MACHINES,
    Component,
    Fault,
    Way,
)
from local_stack.chaos.observation.facts import Facts
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.strikes import aims, outages
from local_stack.chaos.strikes.strikes import StrikeRecord, Target
from local_stack.containers import prerequisites
from local_stack.containers.endpoint import DaemonAddress
from local_stack.processes.supervisor import StackSupervisor

from tests.local_stack.chaos.chaos_values import a_stack


class Burning(ChaosMachine):
    """A machine whose end is only noted."""

    __slots__ = ("history",)
    history: list[str]

    @property
    def daemon(self) -> psutil.Process | None:
        return psutil.Process()

    def burn_down(self) -> None:
        self.history.append("burns")

    def come_back(self) -> None:
        self.history.append("is back")


def machine(number: int) -> Burning:
    made = Burning(
        name=f"default-{number}",
        address=f"10.64.0.{number}",
        namespace=f"n-{number}",
        folder=Path(f"/run/m{number}"),
        data=Path(f"/data/m{number}"),
        supervisor=StackSupervisor(say=print),
    )
    made.history = []
    return made


@pytest.fixture
def three() -> Machines:
    first, second, beside = (machine(number) for number in (1, 2, 3))
    return Machines(nodes=(first, second), beside=beside, gateway="10.64.0.1")


def stack(of: Machines | None) -> TargetStack:
    return a_stack(machines=of)


def test_nodes_are_lost_for_longer_than_the_service_waits_for_them() -> None:
    strikes = faults.choose(seed=1, faults=60, longest_seconds=30, components=IN_CONTAINERS)
    hit = [fault for strike in strikes for fault in strike.faults]
    assert {fault.component for fault in hit} == set(IN_CONTAINERS)
    of_nodes = [fault for fault in hit if fault.component is Component.NODE]
    assert {(fault.way, fault.seconds) for fault in of_nodes} == {(Way.LOSE, ABSENCE_SECONDS)}
    assert ABSENCE_SECONDS > NODE_LOST_SECONDS
    assert {f.way for f in hit if f.component is Component.DOCKERD} == {Way.KILL, Way.FREEZE}


def test_machines_are_hit_only_where_jobs_run_on_them(three: Machines) -> None:
    assert set(outages.impossible(stack(None))) >= set(OF_MACHINES)
    assert not set(outages.impossible(stack(three))) & set(IN_CONTAINERS)
    assert Component.ZYGOTE in set(outages.impossible(stack(three)))


def worker(name: str, node: str) -> JobProcess:
    return JobProcess(
        process=psutil.Process(),
        part=JobProcessKind.WORKER,
        job_id="a",
        worker_id=name,
        gpus=(f"0 of {node}",),
    )


RUNNING = (worker("a-1-1", "default-1"), worker("a-1-2", "default-2"))


@pytest.mark.parametrize(
    ("way", "lot", "ended"),
    [
        pytest.param(Way.KILL, 0.0, {"a-1-1"}, id="the next daemon ends what outlived it"),
        pytest.param(Way.KILL, 0.9, {"a-1-2"}, id="of the other node"),
        pytest.param(Way.FREEZE, 0.0, set(), id="a frozen one keeps its containers"),
    ],
)
def test_of_a_daemon_its_own_process_is_hit(
    three: Machines, way: Way, lot: float, ended: set[str]
) -> None:
    found = aims.find(Fault(component=Component.DOCKERD, way=way, lot=lot), three, RUNNING)
    assert found is not None
    assert (found.processes, found.outage) == ((psutil.Process(),), None)
    assert found.worker_ids == ended


def test_a_node_goes_with_its_workers_and_comes_back(three: Machines) -> None:
    fault = Fault(component=Component.NODE, way=Way.LOSE, seconds=60, lot=0.6)
    found = aims.find(fault, three, RUNNING)
    assert found is not None
    assert found.outage is not None
    assert (found.what, found.worker_ids) == ("default-2", {"a-1-2"})
    found.outage.begin(fault.seconds)
    found.outage.end()
    node = three.nodes[1]
    assert isinstance(node, Burning)
    assert node.history == ["burns", "is back"]


SHIM = ("/usr/bin/containerd-shim-runc-v2", "-namespace", "moby", "-id", "c1", "-address")


def test_a_shim_tells_its_container_and_its_machine() -> None:
    command = (*SHIM, "/run/m1/exec/containerd/containerd.sock")
    assert container_of(command, Path("/run/m1")) == "c1"
    assert container_of(command, Path("/run/m2")) == ""
    assert container_of(("dockerd", *command[1:]), Path("/run/m1")) == ""
    assert container_of((), Path("/run/m1")) == ""


def config(**labels: str) -> Mapping[str, Any]:
    carried = {f"concertina.{name}": value for name, value in labels.items()}
    env = ["CONCERTINA_GPU_INDICES=0,1", "HOME=/scratch"]
    return {"Config": {"Labels": carried or None, "Env": env}}


def test_a_container_is_known_by_its_labels() -> None:
    told = {"job": "a", "process": "a-1-1", "role": "worker", "attempt": "1", "fence": "1"}
    found = seen.described(config(installation="i", **told), "default-1", "i")
    assert found is not None
    assert (found.labels.process_id, found.gpus) == ("a-1-1", ("0 of default-1", "1 of default-1"))
    assert seen.described(config(installation="another", **told), "default-1", "i") is None
    assert seen.described(config(), "default-1", "i") is None


def lost(*nodes: str) -> StrikeRecord:
    fault = Fault(component=Component.NODE, way=Way.LOSE, seconds=60)
    targets = tuple(Target(fault=fault, what=node) for node in nodes)
    return StrikeRecord(targets=targets, at=100.0, over_at=160.0)


GIVEN_UP_AT = 100.0 + NODE_LOST_SECONDS


@pytest.mark.parametrize(
    ("newest", "said"),
    [
        pytest.param({"one": 150.0, "two": 155.0}, "", id="all go on"),
        pytest.param({"one": 150.0, "two": 155.0, "guest": 99.0}, "", id="no room for a third"),
        pytest.param({"one": 150.0, "two": GIVEN_UP_AT - 1}, "only 1 of 2", id="one stands"),
        pytest.param({"one": 90.0}, "0 of 1 jobs went on elsewhere: none", id="the only one"),
    ],
)
def test_jobs_have_to_go_on_while_a_node_is_away(
    three: Machines, newest: dict[str, float], said: str
) -> None:
    found = list(absences.of(lost("default-1"), newest, machines=three))
    assert [said in one for one in found] == ([True] if said else [])


def test_nothing_has_to_go_on_where_no_node_is_left_or_none_was_lost(three: Machines) -> None:
    assert list(absences.of(lost("default-1", "default-2"), {"one": 90.0}, machines=three)) == []
    assert list(absences.of(lost(), {"one": 90.0}, machines=three)) == []


def test_a_daemon_is_noticed_when_the_service_misses_its_node(three: Machines) -> None:
    fault = Fault(component=Component.DOCKERD, way=Way.FREEZE, seconds=30)
    struck = StrikeRecord(targets=(Target(fault=fault),), at=100.0, over_at=130.0)
    told = noticing.noticed_seconds(
        struck.targets[0],
        struck,
        stack=stack(three),
        facts=Facts(jobs=()),
        running=(),
        unwell_at=None,
        silent_at=(50.0, 106.0, 125.0),
    )
    assert told == 6.0


def test_it_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "as root" in machines.why_not()
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "dockerd" else f"/{name}")
    assert machines.why_not().startswith("dockerd not found: apt-get install docker.io")


def test_a_run_knows_what_is_left_of_others_by_its_name() -> None:
    own = earlier.name_of(123)
    names = [own, f"{own}-1", f"{own}-2-x8_y", "cc-orv52nq8", "ccc1", "eth0", "cc45", "cc45a"]
    assert earlier.pids_in(names) == {123, 45}


def test_no_network_is_made_where_nodes_reach_this_machine_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(prerequisites.GIVEN, "10.64.0.1")
    nobody = DaemonAddress(url="unix:///nowhere/docker.sock")
    prepared = prerequisites.prepare(nobody, host_id="h", worker_image="localhost/w:1")
    assert prepared.environment(8000)["CONCERTINA_INTERNAL_URL"] == "http://10.64.0.1:8000"
