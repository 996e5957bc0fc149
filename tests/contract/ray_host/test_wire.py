"""What one side says of launches, processes, logs and readings, the other one understands."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cluster.ray_host import wire
from cluster.ray_host.wire import LogPortion, OtherVersion
from cluster.usage.readings import GpuSample, NodeReading, ProcessUse
from cluster.worker_host import (
    Launch,
    Mount,
    ObservedProcess,
    ProcessLimits,
    ProcessPhase,
    RegistryLogin,
)

from tests.contract.conftest import labels

LAUNCH = Launch(
    labels=labels("w1"),
    command=("python", "train.py", "--name", "ünïcödé\n"),
    env={"A": "1"},
    secret_env={"PASSWORD": "hunter2"},
    node="n1",
    workdir="/work",
    user=1234,
    gpu_indices=(0, 3),
    gpu_names=("GPU-a", "GPU-b"),
    limits=ProcessLimits(memory_bytes=1 << 30, node_share=0.5),
    mounts=(Mount(source=Path("/data"), target="/data", is_writable=False, is_ours=False),),
)
PROCESS = ObservedProcess(
    labels=labels("w1"),
    node="n1",
    phase=ProcessPhase.EXITED,
    started_at=datetime(2026, 11, 26, 1, 2, 3, 4, tzinfo=UTC),
    exit_code=-9,
    ended_at=datetime(2026, 11, 26, 1, 2, 4, tzinfo=UTC),
)


def test_a_launch_arrives_as_it_was() -> None:
    assert wire.launch_of(json.loads(json.dumps(wire.of_launch(LAUNCH)))) == LAUNCH


def test_logins_of_registries_stay_where_they_are() -> None:
    login = RegistryLogin(registry="r", username="u", password="secret")
    told = json.dumps(wire.of_launch(replace(LAUNCH, registry_logins=(login,))))
    assert "secret" not in told.replace("secret_env", "")


@pytest.mark.parametrize(
    "process",
    [PROCESS, replace(PROCESS, phase=ProcessPhase.RUNNING, exit_code=None, ended_at=None)],
)
def test_a_process_arrives_as_it_was(process: ObservedProcess) -> None:
    told = json.loads(json.dumps(wire.of_process(process)))
    assert wire.process_of(told, node="n1") == process


def test_any_bytes_of_a_log_arrive() -> None:
    portion = LogPortion(file_start=7, position=9, data=bytes(range(256)))
    assert wire.portion_of(json.loads(json.dumps(wire.of_portion(portion)))) == portion


def test_a_reading_arrives_as_it_was() -> None:
    reading = NodeReading(
        at_seconds=1.5,
        processes={"w1": ProcessUse(cpu_seconds=2.5, memory_bytes=3)},
        gpus={"GPU-a": GpuSample(utilisation=0.5)},
    )
    assert wire.reading_of(json.loads(json.dumps(wire.of_reading(reading)))) == reading


def test_what_the_next_version_adds_is_left_out_and_what_it_drops_is_as_it_was() -> None:
    told = {**wire.of_launch(LAUNCH), "colour": "red"}
    told["labels"] = {**told["labels"], "colour": "red"}
    told["mounts"] = [{**mount, "colour": "red"} for mount in told["mounts"]]
    assert wire.launch_of(told) == LAUNCH
    del told["workdir"], told["mounts"], told["limits"]
    assert wire.launch_of(told) == replace(LAUNCH, workdir=None, mounts=(), limits=ProcessLimits())


@pytest.mark.parametrize("apart", [-1, 0, 1])
def test_one_version_apart_is_understood(apart: int) -> None:
    line = json.dumps({"version": wire.VERSION + apart, "call": "look"})
    assert wire.request_of(line)["call"] == "look"


@pytest.mark.parametrize("apart", [-2, 2])
def test_two_versions_apart_are_refused_with_both(apart: int) -> None:
    theirs = wire.VERSION + apart
    with pytest.raises(OtherVersion, match=rf"version {theirs} .* version {wire.VERSION}"):
        wire.request_of(json.dumps({"version": theirs, "call": "look"}))
