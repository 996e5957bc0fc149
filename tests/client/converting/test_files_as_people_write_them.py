"""Are the files that people have read as the system reads them that they were written for?"""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from concertina.conversion import job_file
from concertina.conversion.converted import Converted, Source
from concertina.conversion.converting import convert
from concertina.errors import BadInput
from tests.client.converting.test_converting import DETERMINED, PYTORCH_JOB, specs_of


def script_of(body: str, header: str = "#SBATCH -n 2\n") -> str:
    found = convert(f"#!/bin/bash\n{header}\n{body}\n", "s", None)
    specs_of(found)
    return str(found.spec["command"][-1]).strip()


def told(found: Converted) -> str:
    return "\n".join(f"{remark.what}: {remark.why}" for remark in found.remarks)


@pytest.mark.parametrize(
    ("line", "worker"),
    [
        ('srun python "$HOME"/train.py --name="a  b"', 'python "$HOME"/train.py --name="a  b"'),
        ("srun\\\n  --mpi=pmix\\\n  python train.py\\\n  --lr 1", "python train.py\\\n  --lr 1"),
        ("# as in \\\nsrun python train.py", "# as in \\\npython train.py"),
        ("NCCL_DEBUG=INFO srun python train.py", "NCCL_DEBUG=INFO python train.py"),
        ("mpirun -np 8 --mca btl ^openib -H a,b python a.py", "python a.py"),
        ("time srun python train.py", "time python train.py"),
        (
            "for lr in 1 2; do srun python train.py $lr; done",
            "for lr in 1 2; do python train.py $lr; done",
        ),
        ("if true; then\n\tsrun python a.py\nfi", "if true; then\n\tpython a.py\nfi"),
        ("cd src && torchrun --nproc_per_node 2 a.py", "cd src && python a.py"),
        ("train() {\n  srun python a.py\n}\ntrain", "train() {\n  python a.py\n}\ntrain"),
        ("cat > run.sh <<'EOF'\nsrun x \\\n  y\nEOF", "cat > run.sh <<'EOF'\nsrun x \\\n  y\nEOF"),
        ("echo 'first \\\n  second'", "echo 'first \\\n  second'"),
        ("srun bash -c 'torchrun --nnodes 2 a.py'", "bash -c 'python a.py'"),
        (
            "accelerate launch --use_fsdp --mixed_precision bf16 train.py",
            "python train.py",
        ),
        (
            "srun -l python a.py > out_$(date +%s).log 2>&1",
            "python a.py > out_$(date +%s).log 2>&1",
        ),
    ],
)
def test_all_but_what_starts_workers_stays_to_the_letter(line: str, worker: str) -> None:
    body = script_of(f"set -e\n{line}")
    assert body == f"set -e\n{worker}"


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ('LAUNCHER="torchrun --nnodes 2"\n$LAUNCHER train.py', "torchrun"),
        ("MASTER_ADDR=$(hostname)\nsrun python a.py", "MASTER_ADDR=$(hostname)"),
        ("export A=1 RANK=3\npython a.py", "export A=1 RANK=3"),
        ('nodes=$(scontrol show hostnames "$X")\nsrun python a.py', "scontrol"),
        ("srun singularity exec --nv a.sif python a.py", "singularity exec"),
        ("source ~/env/bin/activate\nsrun python a.py", "source ~/env/bin/activate"),
        ("tar xf data.tar\nsrun python a.py", "the other lines of the script"),
        ("srun --container-image=x.sqsh python a.py", "--container-image=x.sqsh"),
        ("accelerate launch --config_file fsdp.yaml a.py", "--config_file fsdp.yaml"),
        ("deepspeed --num_gpus 2 a.py", "--local_rank"),
        ("srun python a.py : python b.py", "submit a job for each part"),
        (f"python a.py # {'x' * 5000}", "save that script as a file"),
    ],
)
def test_what_does_not_work_as_it_stands_is_told(body: str, what: str) -> None:
    assert what in told(convert(f"#SBATCH -n 2\n{body}\n", "s", None))


def test_marks_and_line_ends_of_windows_do_not_hide_options() -> None:
    found = convert("\ufeff#!/bin/bash\r\n#SBATCH\t--gpus=4\r\nsrun python a.py\r\n", "s", None)
    assert found.spec["elastic"]["max_workers"] == 4
    assert found.spec["command"] == ["bash", "-c", "python a.py\n"]


def test_an_indented_comment_does_not_end_the_options() -> None:
    found = convert("#!/bin/bash\n  # note\n#SBATCH --gpus=4\npython a.py\n", "s", None)
    assert found.spec["elastic"]["max_workers"] == 4


def test_a_script_is_run_by_what_its_first_line_says() -> None:
    found = convert("#!/usr/bin/env python3\n#SBATCH -n 1\nprint(1)\n", "s", None)
    assert found.spec["command"] == ["python3", "-c", "print(1)\n"]
    found = convert("#!/bin/bash -le\n#SBATCH -n 1\npython a.py\n", "s", None)
    assert found.spec["command"] == ["bash", "-le", "-c", "python a.py\n"]
    assert "#!tcsh" in told(convert("#!/bin/tcsh\n#SBATCH -n 1\npython a.py\n", "s", None))


def test_a_heterogeneous_job_is_its_first_part_and_that_is_told() -> None:
    text = "#SBATCH --gpus=4\n#SBATCH hetjob\n#SBATCH --gpus=1\nsrun python a.py\n"
    found = convert(text, "s", None)
    assert found.spec["elastic"]["max_workers"] == 4
    assert "hetjob" in told(found)


def test_tasks_are_workers_where_no_gpus_are_asked_for() -> None:
    found = convert("#SBATCH -N 2 --tasks-per-node=4 -c 2 --mem=8G\nsrun python a.py\n", "s", None)
    assert found.spec["elastic"]["max_workers"] == 8
    assert found.spec["resources"] == {"cpus": 2, "memory": "2GiB"}
    found = convert("#SBATCH --gpus=4 --cpus-per-gpu=6\nsrun python a.py\n", "s", None)
    assert found.spec["resources"] == {"cpus": 6}


@pytest.mark.parametrize(
    "header",
    [
        f"--gpus={'9' * 5000}",
        f"--nodes={'9' * 5000}",
        f"--mem={'9' * 400}G",
        f"--time={'9' * 5000}",
        f"--array={'9' * 5000}",
        f"--array={'0-999,' * 50_000}1",
        "--array=0-7%²",
        "--array=²-3",
        "--export=1A=2,B=3",
        '--comment="a b" --job-name="--"',
        "-",
        "= --=x - -- x",
    ],
)
def test_no_header_ends_in_a_traceback(header: str) -> None:
    specs_of(convert(f"#SBATCH {header}\npython a.py\n", "s", None))


def test_scripts_stay_lines_with_tabs_and_blanks_at_their_ends() -> None:
    spec = {"command": ["bash", "-c", "if x; then \n\tpython a.py\t\nfi\n"]}
    written = job_file.written(spec)
    assert "\n\tpython" not in written.replace("  \tpython", "")
    assert "  \tpython a.py\t\n" in written
    assert yaml.safe_load(written) == spec


def test_letters_that_no_eye_sees_are_written_by_their_numbers() -> None:
    spec = {"command": ["bash", "-c", "echo '\u202ea'\n"]}
    assert "\u202e" not in job_file.written(spec)
    assert yaml.safe_load(job_file.written(spec)) == spec


def converted_pod(**container: Any) -> Converted:
    pod = {"containers": [{"name": "pytorch", "image": "x", **container}], "hostNetwork": True}
    spec = {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": {"spec": pod}}}}
    return convert(yaml.safe_dump({**PYTORCH_JOB, "spec": spec}), "p", None)


def test_a_pod_says_each_field_that_comes_to_nothing() -> None:
    found = converted_pod(command=["python", "a.py"], ports=[{"containerPort": 1}], tty=True)
    assert {"hostNetwork", "container.ports", "container.tty"} <= {
        one.what for one in found.remarks
    }


def test_variables_of_kubernetes_are_put_in_and_any_shell_is_one() -> None:
    env = [{"name": "LR", "value": "0.1"}, {"name": "ALL", "value": "lr=$(LR)"}]
    found = converted_pod(command=["python", "a.py"], args=["--lr=$(LR)", "$(NO)"], env=env)
    assert found.spec["command"] == ["python", "a.py", "--lr=0.1", "$(NO)"]
    assert found.spec["env"] == {"LR": "0.1", "ALL": "lr=0.1"}
    found = converted_pod(command=["/bin/bash", "-exc"], args=["torchrun a.py"])
    assert found.spec["command"] == ["/bin/bash", "-exc", "python a.py\n"]


def test_several_documents_are_refused_in_a_sentence() -> None:
    text = f"kind: ConfigMap\n---\n{yaml.safe_dump(PYTORCH_JOB)}"
    with pytest.raises(BadInput, match="several documents"):
        convert(text, "p", Source.PYTORCH_JOB)
    assert convert(f"---\n{yaml.safe_dump(PYTORCH_JOB)}", "p", None).spec["name"] == "bert"


def test_sockets_of_gpus_are_no_matter() -> None:
    found = convert("#SBATCH --gres=gpu:v100:2(S:0,1),shm:1\nsrun python a.py\n", "s", None)
    assert found.spec["elastic"]["max_workers"] == 2


def test_a_range_that_is_searched_begins_at_its_least_value() -> None:
    searched = {"lr": {"type": "log", "minval": -3, "maxval": -1, "base": 10}}
    searched["layers"] = {"type": "int", "minval": 2, "maxval": 5}
    searcher = {"name": "adaptive_asha", "metric": "loss"}
    document = {**DETERMINED, "searcher": searcher, "hyperparameters": searched}
    found = convert(yaml.safe_dump(document), "d", None)
    assert (found.spec["env"]["HPARAM_LR"], found.spec["env"]["HPARAM_LAYERS"]) == ("0.001", "2")


def test_labels_get_names_that_labels_may_have() -> None:
    found = convert(yaml.safe_dump({**DETERMINED, "labels": ["first run", "ü"]}), "d", None)
    specs_of(found)
    assert found.spec["labels"] == {"first-run": "yes"}
    assert {"label first run", "label ü"} <= {one.what for one in found.remarks}


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"entrypoint": "python3 -m determined.launch.torch_distributed --trial m:T"}, "m:T"),
        ({"entrypoint": "python3 -m determined.launch.deepspeed a.py"}, "no such launcher"),
        ({"searcher": {"name": "single", "max_length": {"batches": 9}}}, "searcher.max_length"),
        ({"checkpoint_policy": "best"}, "checkpoint_policy"),
        ({"environment": {"add_capabilities": ["X"]}}, "environment.add_capabilities"),
        ({"resources": {"is_single_node": True}}, "resources.is_single_node"),
        ({"hyperparameters": {"a_b": 1, "a": {"b": 2}}}, "hyperparameter a_b"),
    ],
)
def test_an_experiment_says_each_field_that_comes_to_nothing(
    changes: dict[str, Any], what: str
) -> None:
    found = convert(yaml.safe_dump({**DETERMINED, **changes}), "d", None)
    specs_of(found)
    assert what in told(found)


def test_a_file_larger_than_anybody_writes_is_refused() -> None:
    with pytest.raises(BadInput, match="letters"):
        convert("#SBATCH -n 1\n" + "x" * 1_000_001, "s", None)
