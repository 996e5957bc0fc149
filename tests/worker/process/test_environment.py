"""What the processes of a job are told by their environment."""

from __future__ import annotations

import json

import pytest

from concertina_worker.environment import (
    CoordinatorEnvironment,
    EnvironmentVariableError,
    WorkerEnvironment,
)
from concertina_worker.protocol import Env

WORKER = {
    Env.COORDINATOR: "10.0.0.1:5000",
    Env.WORKER_ID: "job-1-1",
    Env.TOKEN: "t",
    Env.ATTEMPT: "2",
}
BATCH = {"base": 32, "lr_scaling": "sqrt", "lr_warmup_steps": 10, "max_per_gpu": None}


def test_without_a_coordinator_a_worker_is_alone() -> None:
    environment = WorkerEnvironment.read({})
    assert environment.platform is None
    assert environment.checkpoints is None
    assert environment.batch is None
    assert environment.gpu_type is None


def test_a_worker_of_the_platform() -> None:
    environment = WorkerEnvironment.read({**WORKER, Env.BATCH: json.dumps(BATCH)})
    assert environment.platform is not None
    assert (environment.platform.host, environment.platform.port) == ("10.0.0.1", 5000)
    assert environment.platform.attempt == 2
    assert environment.batch == BATCH


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (Env.COORDINATOR, "nowhere"),
        (Env.ATTEMPT, "second"),
        (Env.TOKEN, ""),
        (Env.BATCH, "{}"),
        (Env.BATCH, json.dumps({**BATCH, "lr_scaling": "cubic"})),
        (Env.CHECKPOINT_INTERVAL_SECONDS, "soon"),
        (Env.GPU_EXCHANGE, "pigeon"),
    ],
)
def test_a_variable_that_makes_no_sense_is_named(name: Env, value: str) -> None:
    with pytest.raises(EnvironmentVariableError, match=name):
        WorkerEnvironment.read({**WORKER, Env.CHECKPOINT_DIR: "/x", name: value})


def test_a_coordinator_syncs_with_a_token_of_its_own_where_it_was_given_one() -> None:
    told = {**WORKER, Env.JOB_ID: "j", Env.SERVICE_URL: "http://s", Env.STATE_DIR: "/x"}
    assert CoordinatorEnvironment.read(told).service_token == "t"
    environment = CoordinatorEnvironment.read({**told, Env.SERVICE_TOKEN: "s"})
    assert (environment.token, environment.service_token) == ("t", "s")


def test_a_coordinator_must_know_where_its_service_is() -> None:
    with pytest.raises(EnvironmentVariableError, match=Env.SERVICE_URL):
        CoordinatorEnvironment.read({**WORKER, Env.JOB_ID: "j"})


def test_a_worker_knows_its_gpus_and_their_type() -> None:
    given = {Env.GPU_TYPE: "nvidia-h100", "CUDA_VISIBLE_DEVICES": "GPU-aa,GPU-bb"}
    environment = WorkerEnvironment.read({**WORKER, **given})
    assert environment.gpu_type == "nvidia-h100"
    assert environment.gpus == ("GPU-aa", "GPU-bb")


def test_a_worker_on_a_slot_has_no_gpu_to_watch() -> None:
    assert WorkerEnvironment.read({**WORKER, "CUDA_VISIBLE_DEVICES": ""}).gpus == ()
