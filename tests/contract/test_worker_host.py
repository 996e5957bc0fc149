"""What every worker host promises; the same cases on each of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cluster.in_memory_host import InMemoryHost
from cluster.process_host.host import ProcessHost
from cluster.simulated_host.host import SimulatedHost
from cluster.worker_host import Launch, LaunchRefused, ProcessPhase, WorkerHost

from .conftest import Bench, exited, labels, observed, until


def test_a_started_process_is_listed_at_once_with_its_labels(bench: Bench) -> None:
    bench.start("w1")
    listing = bench.host.list()
    (process,) = listing.processes
    assert listing.silent_nodes == {}
    assert process.labels == labels("w1")
    assert (process.node, process.phase, process.exit_code) == ("n1", ProcessPhase.RUNNING, None)
    assert abs(process.started_at - datetime.now(UTC)) < timedelta(seconds=30)


def test_starting_twice_runs_one_process(bench: Bench) -> None:
    bench.start("w1")
    first = observed(bench.host, "w1")
    bench.start("w1")
    assert bench.host.list().processes == (first,)


def test_several_are_started_together_without_those_that_are_there(bench: Bench) -> None:
    bench.start("w1")
    first = observed(bench.host, "w1")
    launches = [
        Launch(labels=labels(process_id), command=("sleep", "60"), env={}, node="n1")
        for process_id in ("w1", "w2", "w3")
    ]
    bench.host.start(*launches)
    assert set(bench.host.list().by_id()) == {"w1", "w2", "w3"}
    assert observed(bench.host, "w1") == first


def test_of_several_none_is_started_when_one_is_refused(bench: Bench) -> None:
    good = Launch(labels=labels("w1"), command=("sleep", "60"), env={}, node="n1")
    with pytest.raises(LaunchRefused):
        bench.host.start(good, Launch(labels=labels("w2"), command=(), env={}, node="n1"))
    assert bench.host.list().processes == ()


def test_a_process_that_ended_is_not_started_again(bench: Bench) -> None:
    bench.start("w1")
    bench.end("w1", 3)
    exited(bench.host, "w1")
    bench.start_command("w1", ("sh",))
    assert exited(bench.host, "w1").exit_code == 3


@pytest.mark.parametrize("exit_code", [0, 1, 83])
def test_an_exit_code_is_kept_until_the_process_is_forgotten(bench: Bench, exit_code: int) -> None:
    bench.start("w1")
    bench.end("w1", exit_code)
    process = exited(bench.host, "w1")
    assert process.exit_code == exit_code
    assert process.ended_at is not None
    assert process.ended_at >= process.started_at
    bench.host.forget("w1")
    assert bench.host.list().processes == ()


def test_a_running_process_is_not_forgotten(bench: Bench) -> None:
    bench.start("w1")
    bench.host.forget("w1")
    assert observed(bench.host, "w1") is not None


def test_logs_outlive_the_process_and_its_record(bench: Bench) -> None:
    bench.start("w1")
    bench.say("w1", "hello")
    until(
        lambda: [line for line in bench.host.logs(("w1",), job_id="job1") if line.text == "hello"]
    )
    bench.end("w1", 0)
    exited(bench.host, "w1")
    bench.host.forget("w1")
    (line,) = [line for line in bench.host.logs(("w1",), job_id="job1") if line.text == "hello"]
    assert (line.process_id, line.stream) == ("w1", "stdout")


def test_logs_of_several_processes_are_in_order_of_time(bench: Bench) -> None:
    for process_id in ("w1", "w2"):
        bench.start(process_id)
    said = [("w2", "one"), ("w1", "two"), ("w2", "three")]
    for process_id, text in said:
        bench.say(process_id, text)
        until(
            lambda text=text: any(
                line.text == text for line in bench.host.logs(("w1", "w2"), job_id="job1")
            )
        )  # type: ignore[misc]
    lines = [(line.process_id, line.text) for line in bench.host.logs(("w1", "w2"), job_id="job1")]
    assert [line for line in lines if line[1] != "up"] == said
    assert {process_id for process_id, _ in lines} == {"w1", "w2"}


def test_stopping_ends_a_process_with_sigterm(bench: Bench) -> None:
    bench.start("w1")
    bench.host.stop("w1", grace_seconds=30.0)
    assert exited(bench.host, "w1").exit_code == -15


def test_a_process_that_ignores_sigterm_is_killed_after_the_grace_period(bench: Bench) -> None:
    bench.start("w1", is_deaf=True)
    bench.host.stop("w1", grace_seconds=0.2)
    assert exited(bench.host, "w1").exit_code == -9


def test_a_second_stop_can_shorten_the_grace_period(bench: Bench) -> None:
    bench.start("w1", is_deaf=True)
    bench.host.stop("w1", grace_seconds=600.0)
    bench.host.stop("w1", grace_seconds=0.0)
    assert exited(bench.host, "w1").exit_code == -9


def test_stopping_an_ended_or_unknown_process_does_nothing(bench: Bench) -> None:
    bench.start("w1")
    bench.end("w1", 5)
    exited(bench.host, "w1")
    bench.host.stop("w1", grace_seconds=0.0)
    bench.host.stop("w2", grace_seconds=0.0)
    bench.host.forget("w2")
    assert exited(bench.host, "w1").exit_code == 5


def test_a_command_that_does_not_exist_ends_with_127(bench: Bench) -> None:
    bench.start_command("w1", ("no-such-command", "--now"))
    assert exited(bench.host, "w1").exit_code == 127


def test_an_empty_command_is_refused_for_ever(bench: Bench) -> None:
    launch = Launch(labels=labels("w1"), command=(), env={}, node="n1")
    with pytest.raises(LaunchRefused):
        bench.host.start(launch)
    assert bench.host.list().processes == ()


def test_events_tell_of_starts_and_exits(bench: Bench) -> None:
    host: WorkerHost = bench.host
    bench.start("w1")
    events = host.events(poll_seconds=0.02)
    assert next(events).phase is ProcessPhase.RUNNING
    bench.end("w1", 4)
    assert next(events).exit_code == 4


def test_what_a_worker_takes_is_read_from_outside_with_all_that_it_started(bench: Bench) -> None:
    """Time of children that ended counts; the reading of another node shows nothing of it."""
    gauge = bench.host.gauge
    if gauge is None:
        assert isinstance(bench.host, (InMemoryHost, SimulatedHost))  # where nothing runs
        return
    count = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    bench.start_command("w1", ("sh", "-c", f"sh -c '{count}'; sleep 1000"))
    used = until(lambda: (use := gauge.read("n1").processes.get("w1")) and use.cpu_seconds and use)
    assert used.cpu_seconds > 0
    assert 0 < used.memory_bytes < 1 << 30
    assert set(gauge.read("n1").processes) == {"w1"}
    if isinstance(bench.host, ProcessHost):  # others refuse to read a node that nobody knows
        assert gauge.read("n2").processes == {}
