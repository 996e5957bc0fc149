"""What becomes of a job of another system? A spec that the service takes, and no silence."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from concertina.conversion import job_file
from concertina.conversion.converted import Converted, Fate, Source
from concertina.conversion.converting import convert
from concertina.errors import BadInput
from jobs.spec import job_spec
from jobs.spec.arrays.expansion import read_one

BATCH_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name="resnet 50"
#SBATCH -N 2 --ntasks-per-node=4   # two nodes
#SBATCH --gres=gpu:a100:4 --cpus-per-task=8 --mem=256G
#SBATCH -t 2-12:00:00
#SBATCH -p gpu
#SBATCH --array=0-9%2
#SBATCH --export=ALL,OMP_NUM_THREADS=8

module load cuda/12.1
export MASTER_PORT=12345
#SBATCH --mem=1G
srun --kill-on-bad-exit=1 --mpi pmix --exact python -u train.py \\
    --seed $SLURM_ARRAY_TASK_ID --rank "$SLURM_PROCID"
"""


def specs_of(found: Converted) -> list[job_spec.JobSpec]:
    """Return the jobs that the service makes of it, with its code uploaded."""
    document = {**found.spec}
    if "code" in document:
        document["code"] = {"digest": "0" * 64}
    written = yaml.safe_load(job_file.written(document))
    assert written == document
    return [job_spec.parse(one.document) for one in read_one(written)]


def remarks_on(found: Converted, fate: Fate) -> list[str]:
    return [remark.what for remark in found.remarks if remark.fate is fate]


def test_a_batch_script_is_an_array_of_elastic_jobs() -> None:
    found = convert(BATCH_SCRIPT, "train.sbatch", None)
    first, *others = specs_of(found)
    assert len(others) == 9
    assert first.name == "resnet-50-1"
    assert (first.elastic.min_workers, first.elastic.max_workers) == (1, 8)
    assert [*first.command[:2]] == ["bash", "-c"]
    assert first.command[2].splitlines()[-2:] == [
        "python -u train.py \\",
        '    --seed $SLURM_ARRAY_TASK_ID --rank "$SLURM_PROCID"',
    ]
    assert first.env == {"OMP_NUM_THREADS": "8", "SLURM_ARRAY_TASK_ID": "0"}
    assert found.spec["resources"] == {"cpus": 8, "memory": "64GiB"}  # of one of four on a node
    assert found.spec["max_duration"] == "60h"
    assert found.spec["array"] == {"parameters": {"task": "0..9"}, "max_running": 2}


def test_whatever_a_batch_script_says_otherwise_is_told() -> None:
    found = convert(BATCH_SCRIPT, "train.sbatch", None)
    assert remarks_on(found, Fate.LEFT_OUT) == ["--export=ALL", "--partition=gpu"]
    assert remarks_on(found, Fate.CHANGED) == [
        "name",
        "srun",
        "module load cuda/12.1",
        "export MASTER_PORT=12345",
        "$SLURM_PROCID",
        "--gres=gpu:a100:4 --nodes=2",
        "the script",
        "--mem=256G",
        "--time=2-12:00:00",
    ]


@pytest.mark.parametrize(
    ("header", "gpus"),
    [
        ("--gpus=6", 6),
        ("-G a100:6", 6),
        ("-n 3 --gpus-per-task=2", 6),
        ("-N2 --gpus-per-node a100:3", 6),
        ("--nodes=1-2 --gres=shard:1,gpu:3", 6),
        ("--gres=gpu", 1),
        ("--gres=gpu:h100", 1),
        ("", 1),
    ],
)
def test_a_worker_is_made_of_each_gpu(header: str, gpus: int) -> None:
    found = convert(f"#SBATCH {header}\npython train.py\n", "s", Source.SLURM)
    assert found.spec["elastic"]["max_workers"] == gpus


@pytest.mark.parametrize(
    ("line", "worker"),
    [
        ("srun -n4 --gpus-per-task=1 python train.py", "python train.py"),
        ("srun bash -c 'python train.py'", "bash -c 'python train.py'"),
        ("torchrun --standalone --nproc_per_node 8 train.py --lr 0.1", "python train.py --lr 0.1"),
        ("torchrun --nproc-per-node=8 -m pack.train --lr 0.1", "python -m pack.train --lr 0.1"),
        ("srun torchrun --nnodes $N train.py", "python train.py"),
        ("python3 -m torch.distributed.run --nnodes=2 train.py", "python3 train.py"),
        ("accelerate launch --multi_gpu --num_processes 4 train.py x", "python train.py x"),
        (
            "deepspeed --num_gpus=4 train.py --deepspeed c.json",
            "python train.py --deepspeed c.json",
        ),
        ("mpirun -np 4 --allow-run-as-root python train.py", "python train.py"),
        ("  srun python train.py > log 2>&1 &", "  python train.py > log 2>&1 &"),
        ("python train.py", "python train.py"),
        ("srun", "srun"),
        ("srun python 'open", "python 'open"),
    ],
)
def test_what_starts_workers_elsewhere_is_what_each_worker_runs(line: str, worker: str) -> None:
    found = convert(f"#SBATCH -n 1\ncd src\n{line}\n", "s", None)
    assert found.spec["command"][2].rstrip("\n") == f"cd src\n{worker}"


POD: dict[str, Any] = {
    "nodeSelector": {"gpu": "a100"},
    "volumes": [{"name": "d"}],
    "containers": [
        {"name": "proxy"},
        {
            "name": "pytorch",
            "image": "registry.example.com/bert:1",
            "command": ["torchrun", "--nproc_per_node=2", "train.py"],
            "args": ["--lr", 0.1],
            "env": [
                {"name": "A", "value": 1},
                {"name": "B", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}},
            ],
            "resources": {"limits": {"nvidia.com/gpu": "2", "cpu": "500m", "memory": "64Gi"}},
        },
    ],
}
PYTORCH_JOB: dict[str, Any] = {
    "apiVersion": "kubeflow.org/v1",
    "kind": "PyTorchJob",
    "metadata": {"name": "bert", "namespace": "nlp", "labels": {"project": "qa"}},
    "spec": {
        "runPolicy": {"activeDeadlineSeconds": 7200, "backoffLimit": 2},
        "pytorchReplicaSpecs": {
            "Master": {"template": {"spec": POD}},
            "Worker": {"replicas": 3, "template": {"spec": POD}},
        },
    },
}


def test_a_pytorch_job_is_an_elastic_job() -> None:
    found = convert(yaml.safe_dump(PYTORCH_JOB), "job.yaml", None)
    (spec,) = specs_of(found)
    assert found.spec["command"] == ["python", "train.py", "--lr", "0.1"]
    assert (spec.elastic.min_workers, spec.elastic.max_workers) == (1, 8)  # 4 pods of 2 GPUs
    assert found.spec["resources"] == {"cpus": 0.25, "memory": "32GiB"}
    assert (found.spec["env"], found.spec["labels"]) == ({"A": "1"}, {"project": "qa"})
    assert (found.spec["max_duration"], spec.retry.max_restarts) == ("2h", 2)
    left_out = ["namespace nlp", "env B", "nodeSelector", "volumes", "container proxy"]
    assert remarks_on(found, Fate.LEFT_OUT) == left_out


def test_the_range_of_an_elastic_pytorch_job_stays_its_range() -> None:
    elastic = {"minReplicas": 2, "maxReplicas": 6}
    document = {**PYTORCH_JOB, "spec": {**PYTORCH_JOB["spec"], "elasticPolicy": elastic}}
    (spec,) = specs_of(convert(yaml.safe_dump(document), "job.yaml", None))
    assert (spec.elastic.min_workers, spec.elastic.max_workers) == (4, 12)


DETERMINED: dict[str, Any] = {
    "name": "mnist",
    "entrypoint": "python3 -m determined.launch.torch_distributed python3 train.py --x 'a b'",
    "resources": {"slots_per_trial": 4, "priority": 20, "resource_pool": "a100"},
    "hyperparameters": {
        "global_batch_size": 64,
        "momentum": {"type": "const", "val": 0.9},
        "lr": {"type": "log", "minval": -3, "maxval": -1, "count": 3, "base": 10},
        "net": {"layers": {"type": "int", "minval": 1, "maxval": 3, "count": 2}},
    },
    "searcher": {"name": "grid", "metric": "val_loss", "max_concurrent_trials": 2},
    "max_restarts": 2,
    "reproducibility": {"experiment_seed": 7},
    "checkpoint_storage": {"save_trial_latest": 2, "save_trial_best": 3, "type": "s3"},
    "environment": {"image": {"cuda": "my:1"}, "environment_variables": ["A=1=2"]},
    "workspace": "nlp",
    "labels": ["first"],
}


def test_a_grid_of_determined_is_an_array() -> None:
    found = convert(yaml.safe_dump(DETERMINED), "experiment.yaml", None)
    specs = specs_of(found)
    assert len(specs) == 6
    assert found.spec["command"] == ["python3", "train.py", "--x", "a b"]
    assert found.spec["array"]["parameters"] == {"lr": [0.001, 0.01, 0.1], "net_layers": [1, 3]}
    assert specs[0].env == {
        "A": "1=2",
        "HPARAM_GLOBAL_BATCH_SIZE": "64",
        "HPARAM_MOMENTUM": "0.9",
        "HPARAM_LR": "0.001",
        "HPARAM_NET_LAYERS": "1",
    }
    best = {"metric": "val_loss", "goal": "min", "n": 3}
    assert found.spec["checkpoint"] == {"keep_best": best, "keep_last": 2}
    assert (specs[0].priority, specs[0].seed, specs[0].elastic.max_workers) == (80, 7, 4)
    left_out = ["resources.resource_pool", "checkpoint_storage.type", "workspace"]
    assert sorted(remarks_on(found, Fate.LEFT_OUT)) == sorted(left_out)


def test_a_search_that_chooses_as_it_goes_is_told_and_left_out() -> None:
    searcher = {"name": "adaptive_asha", "metric": "val_loss", "smaller_is_better": False}
    found = convert(yaml.safe_dump({**DETERMINED, "searcher": searcher}), "experiment.yaml", None)
    (spec,) = specs_of(found)
    assert spec.env["HPARAM_LR"] == "0.001"
    assert "searcher adaptive_asha" in remarks_on(found, Fate.LEFT_OUT)
    assert found.spec["checkpoint"]["keep_best"]["goal"] == "max"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "empty"),
        ("a: 1", "--from slurm"),
        ("[1]", "neither a batch script"),
        ("#SBATCH -n 1\n", "no command"),
        ("kind: PyTorchJob", "no Worker and no Master"),
        ("entrypoint: []", "no entrypoint"),
        ('entrypoint: "python \'a"', "no command"),
    ],
)
def test_what_cannot_be_read_is_refused_in_a_sentence(text: str, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        convert(text, "file", None)


NAMES = [
    "gpus",
    "nodes",
    "ntasks",
    "gres",
    "mem",
    "mem-per-cpu",
    "time",
    "array",
    "export",
    "chdir",
]
VALUES = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="#'\"\\"))


@given(
    options=st.lists(st.tuples(st.sampled_from([*NAMES, "qos", "hold", "x"]), VALUES), max_size=6),
    line=st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1),
)
def test_no_batch_script_is_lost_in_silence(options: list[tuple[str, str]], line: str) -> None:
    headers = "".join(f"#SBATCH --{name}={value}\n" for name, value in options)
    try:
        found = convert(f"{headers}: {line}\n", "s", Source.SLURM)
    except BadInput:
        return
    told = " ".join(remark.what for remark in found.remarks)
    for name, _ in options:
        if name in ("qos", "hold", "x"):
            assert f"--{name}" in told


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2000) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from([*DETERMINED, "bind_mounts"]), JSON), st.text(min_size=1))
def test_no_configuration_ends_in_a_traceback(document: dict[str, Any], entrypoint: str) -> None:
    with suppress(BadInput):
        convert(yaml.safe_dump({"entrypoint": entrypoint, **document}), "d", Source.DETERMINED)


@given(JSON, JSON, JSON)
def test_no_pytorch_job_ends_in_a_traceback(env: Any, limits: Any, command: Any) -> None:
    container = {"env": env, "command": command, "resources": {"limits": limits}}
    replicas = {"Worker": {"replicas": limits, "template": {"spec": {"containers": [container]}}}}
    document = {"kind": "PyTorchJob", "metadata": env, "spec": {"pytorchReplicaSpecs": replicas}}
    with suppress(BadInput):
        convert(yaml.safe_dump(document), "p", Source.PYTORCH_JOB)
