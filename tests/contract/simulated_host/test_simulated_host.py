"""Does the simulated host find its simulator, and what of it is real?"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.simulated_host.host import SimulatedHost
from cluster.simulated_host.kind import SimulatedKind
from cluster.variables import EnvironmentVariables
from cluster.worker_host import HostUnavailable, Launch

from tests.contract.conftest import exited, labels

from .simulator_in_thread import simulator_in_thread


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return one with a short name, for a socket."""
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


@pytest.fixture
def real() -> InMemoryHost:
    return InMemoryHost()


@pytest.fixture
def host(folder: Path, real: InMemoryHost) -> SimulatedHost:
    return SimulatedHost(state_dir=folder, real=real, real_nodes=lambda: {"real-1"})


def launch(process_id: str, *command: str, node: str = "n1") -> Launch:
    return Launch(labels=labels(process_id), command=command, env={}, node=node)


def test_who_starts_the_simulator_is_said_when_it_does_not_answer(host: SimulatedHost) -> None:
    with pytest.raises(HostUnavailable, match=r"python -m cluster\.simulated_host\.simulator"):
        host.list()


def test_processes_on_real_nodes_are_real(
    host: SimulatedHost, folder: Path, real: InMemoryHost
) -> None:
    with simulator_in_thread(folder):
        host.start(launch("w1", "simulated"), launch("w2", "python", node="real-1"))
        assert set(host.list().by_id()) == {"w1", "w2"}
        assert real.running() == {"w2"}
        host.stop("w2", grace_seconds=1.0)
        host.stop("w1", grace_seconds=1.0)
        assert real.stops == [("w2", 1.0)]
        host.forget("w2")
        host.forget("w1")
        assert host.list().processes == ()


def test_a_mistaken_option_ends_the_worker_and_is_in_its_log(
    host: SimulatedHost, folder: Path
) -> None:
    with simulator_in_thread(folder):
        host.start(launch("w1", "simulated", "--sampels", "7"))
        assert exited(host, "w1").exit_code == 2
        (line,) = host.logs(("w1",), job_id="job1")
    assert "--sampels" in line.text


def test_with_the_simulator_its_processes_are_gone(host: SimulatedHost, folder: Path) -> None:
    with simulator_in_thread(folder):
        host.start(launch("w1", "simulated"))
    with simulator_in_thread(folder):
        assert host.list().processes == ()


@pytest.mark.parametrize(("url", "is_fine"), [("", True), ("process", True), ("tcp://n1", False)])
def test_a_node_is_simulated_or_of_this_machine(url: str, *, is_fine: bool) -> None:
    kind = SimulatedKind.read(EnvironmentVariables({}), host_id="h")
    assert (kind.complaint_of_node_url(url) == "") is is_fine
