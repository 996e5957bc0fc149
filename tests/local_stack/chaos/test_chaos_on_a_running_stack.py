"""What chaos spares, and refuses, where it is to hit the stack that is up."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from local_stack import stack_record
from local_stack.chaos.faults import OF_MACHINES, OF_THE_NETWORK, Component, Fault, Way
from local_stack.chaos.observation.facts import Facts
from local_stack.chaos.observation.processes import JobProcess, JobProcessKind
from local_stack.chaos.stacks import running_stack
from local_stack.chaos.stacks.running_stack import CannotBeHit
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.chaos.strikes import outages, strikes
from local_stack.checkout import ROOT, Checkout
from local_stack.stack_record import StackPhase, StackRecord

from tests.local_stack.chaos.chaos_values import a_job, a_stack


class Somebodys(TargetStack):
    """A stack on which a job of chaos and one of somebody else train."""

    __slots__ = ()

    def job_processes(self) -> list[JobProcess]:
        return [
            JobProcess(
                process=psutil.Process(),
                part=JobProcessKind.WORKER,
                job_id=job,
                worker_id=f"{job}-1-1",
            )
            for job in ("ours", "theirs")
        ]


def somebodys() -> TargetStack:
    return a_stack(Somebodys, prefix="chaos-1a2b3c", is_somebodys=True)


def test_its_supervisor_its_disk_and_its_network_are_spared() -> None:
    spared = {Component.STACK, Component.DISK, *OF_THE_NETWORK, *OF_MACHINES}
    assert set(outages.impossible(somebodys())) == spared


@pytest.mark.parametrize("lot", [0.0, 0.5, 0.99])
@pytest.mark.parametrize("component", [Component.WORKER, Component.ALL_WORKERS])
def test_other_people_s_jobs_are_never_hit(component: Component, lot: float) -> None:
    fault = Fault(component=component, way=Way.KILL, seconds=0.0, lot=lot)
    target = strikes.find(fault, somebodys(), {"ours"})
    assert target is not None
    assert target.job_ids == {"ours"}
    assert strikes.find(fault, somebodys(), {"of another run"}) is None


def test_what_must_hold_of_jobs_is_asked_of_its_own() -> None:
    facts = Facts(jobs=tuple(map(a_job, ("chaos-1a2b3c-1", "chaos-1", "bert"))))
    assert [job.name for job in facts.with_names("chaos-1a2b3c-").jobs] == ["chaos-1a2b3c-1"]


def test_a_stack_that_is_not_up_or_has_containers_or_another_database_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTINA_HOME", str(tmp_path))
    monkeypatch.delenv("DATABASE_URL", raising=False)
    with pytest.raises(CannotBeHit, match=r"start one with `\./dev up`"):
        try_it()
    checkout = Checkout(root=tmp_path, state_dir=tmp_path, runtime_dir=tmp_path)
    with stack_record.exclusive(checkout):
        stack_record.write(checkout, a_record(docker_url="unix:///docker.sock"))
        with pytest.raises(CannotBeHit, match="its jobs run in containers"):
            try_it()
        stack_record.write(checkout, a_record())
        with pytest.raises(CannotBeHit, match="nobody agreed"):
            try_it()
        monkeypatch.setenv("DATABASE_URL", "postgresql://elsewhere/concertina")
        with pytest.raises(CannotBeHit, match="PostgreSQL of its own"):
            try_it()


def try_it() -> None:
    with running_stack.running_stack(is_agreed=False, say=print):
        raise AssertionError("it was hit without anybody's leave")


def a_record(docker_url: str = "") -> StackRecord:
    return StackRecord(
        phase=StackPhase.READY,
        doing="",
        supervisor_pid=os.getpid(),
        started_at=time.time(),
        url="http://127.0.0.1:1",
        docker_url=docker_url,
    )


def test_what_is_for_programs_is_alone_on_standard_output(folder: Path) -> None:
    ended = subprocess.run(
        (ROOT / "dev", "chaos", "--running", "--json"),
        env={**os.environ, "CONCERTINA_HOME": str(folder / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "start one with `./dev up`" in ended.stderr
