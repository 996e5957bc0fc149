"""With which command, environment and limits is each process of a job started?

Workers get what the library needs (`concertina_worker.protocol.Env`) and what torchrun would set,
so that scripts which know nothing of us find their peers as well.
"""

from __future__ import annotations

import json
from typing import Final

from cluster.models import Node
from cluster.worker_host import Labels, Launch, Limits, Role

from autoscaler.control_loop.job_view import JobView, WorkerView
from autoscaler.control_loop.names import coordinator_id
from autoscaler.control_loop.shell import Shell
from concertina_worker.protocol import BatchRules, Env
from jobs import batch_limit, job_token
from jobs.models import GpuClaim

_SLOT: Final = "slot"  # the GPU type of a machine without GPUs
_PATH: Final = "/usr/local/bin:/usr/bin:/bin"
_LOOPBACK: Final = "127.0.0.1"


def of_coordinator(view: JobView, node: Node, shell: Shell) -> Launch:
    """The job's coordinator, beside its first worker."""
    surroundings = shell.surroundings
    env = {
        **_common(view, node, shell),
        Env.SERVICE_URL: surroundings.service_url,
        Env.STATE_DIR: str(surroundings.job_dir(view.id) / "coordinator"),
    }
    return Launch(
        labels=_labels(coordinator_id(view.id), Role.COORDINATOR, view, shell),
        command=(str(surroundings.python), "-m", "concertina_worker.coordinator"),
        env=env,
        node=node.name,
    )


def of_worker(view: JobView, worker: WorkerView, coordinator_node: Node, shell: Shell) -> Launch:
    """One worker of the newest assignment."""
    claims = GpuClaim.objects.filter(worker_id=worker.id)
    gpu_indices = tuple(claims.order_by("gpu_index").values_list("gpu_index", flat=True))
    job_dir = shell.surroundings.job_dir(view.id)
    env = {
        **_defaults(view, worker, gpu_indices),
        **view.spec.env,
        **_common(view, coordinator_node, shell),
        **_as_torchrun(view, worker),
        Env.WORKER_ID: worker.id,
        Env.GPU_INDICES: ",".join(map(str, gpu_indices)),
        Env.GPU_TYPE: view.job.pool.gpu_type,
        Env.CHECKPOINT_DIR: str(job_dir / "checkpoints"),
        Env.CHECKPOINT_INTERVAL_SECONDS: f"{view.spec.checkpoint.interval:g}",
        Env.CHECKPOINT_KEEP_LAST: str(view.spec.checkpoint.keep_last),
        Env.BATCH: json.dumps(_batch_rules(view)),
        Env.SEED: str(view.spec.seed),
    }
    return Launch(
        labels=_labels(worker.id, Role.WORKER, view, shell),
        command=tuple(view.spec.command),
        env={str(name): value for name, value in env.items()},
        node=worker.row.node.name,
        workdir=view.spec.workdir,
        gpu_indices=gpu_indices,
        limits=Limits(memory_bytes=view.spec.resources.memory, cpus=view.spec.resources.cpus),
    )


def _labels(process_id: str, role: Role, view: JobView, shell: Shell) -> Labels:
    return Labels(
        process_id=process_id,
        job_id=view.id,
        role=role,
        attempt=view.job.attempt,
        fence=shell.fence.number,
    )


def _common(view: JobView, coordinator_node: Node, shell: Shell) -> dict[str, str]:
    return {
        "PATH": f"{shell.surroundings.python.parent}:{_PATH}",
        "PYTHONUNBUFFERED": "1",
        Env.JOB_ID: view.id,
        Env.ATTEMPT: str(view.job.attempt),
        Env.TOKEN: job_token.issue(view.id),
        Env.COORDINATOR: f"{coordinator_node.address}:{view.job.coordinator_port}",
    }


def _defaults(view: JobView, worker: WorkerView, gpu_indices: tuple[int, ...]) -> dict[str, str]:
    """What a job may overrule in its `env`."""
    node = worker.row.node
    names = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME") if node.address == _LOOPBACK else ()
    interfaces = dict.fromkeys(names, "lo")
    if not _has_gpus(view):
        return {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", **interfaces}
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(node.cuda_names(gpu_indices)),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # as NVML counts; CUDA's own order is by speed
        **interfaces,
    }


def _has_gpus(view: JobView) -> bool:
    return view.job.pool.gpu_type != _SLOT


def _as_torchrun(view: JobView, worker: WorkerView) -> dict[str, str]:
    members = view.members
    neighbours = [w.id for w in members if w.row.node_id == worker.row.node_id]
    if _has_gpus(view):
        neighbours = [worker.id]  # it sees its own GPUs only: scripts take LOCAL_RANK for a GPU
    decision = view.assignment.decision if view.assignment else {}
    return {
        "RANK": str(view.wanted.index(worker.id)),
        "WORLD_SIZE": str(len(view.wanted)),
        "LOCAL_RANK": str(neighbours.index(worker.id)),
        "LOCAL_WORLD_SIZE": str(len(neighbours)),
        "MASTER_ADDR": members[0].row.node.address,
        "MASTER_PORT": str(decision.get("master_port", view.job.coordinator_port)),
        "TORCHELASTIC_RUN_ID": view.id,
        "TORCHELASTIC_RESTART_COUNT": str(max(view.job.attempt - 1, 0)),
    }


def _batch_rules(view: JobView) -> BatchRules:
    batch = view.spec.batch
    return {
        "base": batch.global_batch_size.base,
        "lr_scaling": batch.lr_scaling,
        "lr_warmup_steps": batch.lr_warmup_steps,
        "max_per_gpu": batch_limit.of(view.job),
    }
