"""With which command, environment and limits is each process of a job started?

Workers get what the library needs (`concertina_worker.protocol.Env`) and what torchrun would set,
so that scripts which know nothing of us find their peers as well.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from cluster.models import Node, Pool
from cluster.process_environments import ProcessEnvironment
from cluster.worker_host import Labels, Launch, Mount, ProcessLimits, ProcessRole, RegistryLogin
from tenancy import image_rules
from tenancy.image_names import in_full, registry_of
from tenancy.secrets import team_secrets

from autoscaler.control_loop.carry_out import data_mounts, start_mounts
from autoscaler.control_loop.observe.jobs.arrangements import arrangement_of
from autoscaler.control_loop.observe.jobs.job_view import LiveJob, WorkerView
from autoscaler.control_loop.tick_context import TickContext
from autoscaler.job_network import JobNetwork
from concertina_worker.protocol import GATE_PORT, BatchRules, BestRules, Env
from jobs.changes import batch_limit
from jobs.job_mode import JobMode
from jobs.reports import job_token

_ON_A_SLOT: Final = {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}  # a job may overrule these
_PROXY: Final = ("HTTPS_PROXY", "https_proxy")  # some programs know the one, some the other
_UNBUFFERED: Final = {"PYTHONUNBUFFERED": "1"}


def of_coordinator(view: LiveJob, node: Node, context: TickContext) -> Launch:
    """The job's coordinator, beside its first worker."""
    environments = context.environments
    seen = environments.of_coordinator(view.id)
    return Launch(
        labels=_labels(view.coordinator_id, ProcessRole.COORDINATOR, view, context),
        command=(environments.python, "-m", "concertina_worker.coordinator"),
        env={
            **_common(view, node, seen, context),
            Env.SERVICE_URL: node.service_url or environments.service_url,
            Env.STATE_DIR: _memories(seen, view.job.database_epoch),
            Env.COORDINATOR_TERM: str(view.job.coordinator_term),
            Env.START: str(view.job.starts),
            **_rendezvous_of(view, context),
            **_gate_of(view),
        },
        secret_env={
            **_secrets(view),
            Env.SERVICE_TOKEN: job_token.of_coordinator(
                view.id, term=view.job.coordinator_term, now=context.now
            ),
        },
        node=node.name,
        user=environments.user_of(view.job.team_id, ProcessRole.COORDINATOR),
        limits=seen.limits,
        image=seen.image,
        mounts=seen.mounts,
        alias=seen.alias,
        network=view.spec.network or "",
    )


def of_worker(
    view: LiveJob,
    worker: WorkerView,
    coordinator_node: Node,
    gpu_indices: tuple[int, ...],
    context: TickContext,
) -> Launch:
    """One worker of the newest assignment.

    Raises:
        DataUnavailable: the job uses data that is not there any more.
        StartUnavailable: what the job starts from is not there any more.
        SecretUnavailable: one that the job names was deleted, or cannot be decrypted.
    """
    node, spec = worker.node, view.spec
    seen = context.environments.of_worker(
        view.id, worker.id, image=spec.image and in_full(spec.image)
    )
    code, outputs = _code_of(view, context), context.environments.outputs(view.id)
    data, start = data_mounts.of(view, context), start_mounts.of(view, context)
    ours = {
        **_common(view, coordinator_node, seen, context),
        **_as_torchrun(view, worker, context),
        Env.WORKER_ID: worker.id,
        Env.GPU_INDICES: ",".join(map(str, gpu_indices)),
        Env.GPU_TYPE: view.job.pool.gpu_type,
        Env.OUTPUTS: outputs.target,
        **data.env,
        **start.env,
        Env.CHECKPOINT_DIR: seen.folder,
        Env.REPORT_FILE: f"{seen.reports}/{worker.id}.jsonl",
        Env.CHECKPOINT_INTERVAL_SECONDS: f"{spec.checkpoint.interval:g}",
        Env.CHECKPOINT_KEEP_LAST: str(spec.checkpoint.keep_last),
        Env.CHECKPOINT_KEEP_BEST: _best_rules(view),
        Env.START: str(view.job.starts),
        Env.EPOCH: str(view.job.database_epoch),
        Env.BATCH: json.dumps(_batch_rules(view)),
        Env.SEED: str(spec.seed),
    }
    way_out = _to_gate(view, context.environments.coordinator_host(coordinator_node))
    usual = {**seen.defaults, **_defaults(view, node, gpu_indices, context), **way_out}
    env = {**usual, **spec.env, **ours}
    return Launch(
        labels=_labels(worker.id, ProcessRole.WORKER, view, context),
        command=tuple(spec.command),
        env={str(name): value for name, value in env.items()},
        secret_env={**_of_team(view, without=ours), **_secrets(view)},
        registry_logins=_registry_logins(view, seen),
        node=node.name,
        workdir=spec.workdir or (code.target if code else None),
        user=context.environments.user_of(view.job.team_id, ProcessRole.WORKER),
        gpu_indices=gpu_indices,
        gpu_names=node.cuda_names(gpu_indices) if _has_gpus(view) else (),
        limits=_limits(view, worker, seen, context),
        image=seen.image,
        mounts=(*seen.mounts, outputs, *data.mounts, *start.mounts, *((code,) if code else ())),
        alias=seen.alias,
        network=spec.network or "",
    )


def is_of_gpus(pool: Pool) -> bool:
    """True if its workers are given GPUs, and not only slots."""
    return pool.is_of_gpus


def _code_of(view: LiveJob, context: TickContext) -> Mount | None:
    digest = view.spec.code.digest if view.spec.code else None
    if digest is None:  # no job starts before its code was fetched: see `arriving.repositories`
        return None
    folder = context.code.folder(view.job.team_id, digest)
    return context.environments.code(folder)


def _memories(seen: ProcessEnvironment, epoch: int) -> str:
    """Return the folder of a job's coordinators; what they knew in another epoch never was."""
    return f"{seen.folder}/epoch-{epoch}" if epoch else seen.folder


def _labels(process_id: str, role: ProcessRole, view: LiveJob, context: TickContext) -> Labels:
    return Labels(
        process_id=process_id,
        job_id=view.id,
        role=role,
        attempt=view.job.attempt,
        fence=context.fence.number,
    )


def _limits(
    view: LiveJob, worker: WorkerView, seen: ProcessEnvironment, context: TickContext
) -> ProcessLimits:
    resources = view.spec.resources
    return replace(
        seen.limits,
        memory_bytes=resources.memory,
        node_share=context.around.share_of_machine(worker.node, resources.gpus_per_worker),
        cpus=resources.cpus,
        shm_bytes=resources.shm_size,
    )


def _of_team(view: LiveJob, *, without: Collection[str]) -> dict[str, str]:
    """The secrets that the job names, but for variables that are the platform's."""
    found = team_secrets.environment_of(view.job.team, view.spec.secrets)
    return {name: value for name, value in found.items() if name not in without}


def check_image(view: LiveJob, worker: WorkerView, context: TickContext) -> None:
    """Look at the rules once more when a job starts; while it runs, its new workers are let in.

    Raises:
        ImageNotAllowed: the rule was taken away since the job was submitted.
    """
    image = view.spec.image
    if image is not None:
        ours = context.environments.of_worker(view.id, worker.id, image=None).image
        image_rules.check(image, team=view.job.team, platform_image=ours)


def _registry_logins(view: LiveJob, seen: ProcessEnvironment) -> tuple[RegistryLogin, ...]:
    """The team's, for the registry of this image and no other."""
    registry = registry_of(seen.image or "")
    login = team_secrets.registry_login_of(view.job.team, registry)
    if login is None:
        return ()
    return (RegistryLogin(registry=registry, username=login.username, password=login.password),)


def _secrets(view: LiveJob) -> dict[str, str]:
    return {str(Env.TOKEN): job_token.of_workers(view.id)}


def _common(
    view: LiveJob, coordinator_node: Node, seen: ProcessEnvironment, context: TickContext
) -> dict[str, str]:
    host = context.environments.coordinator_host(coordinator_node)
    return {
        **seen.env,
        **_UNBUFFERED,
        Env.JOB_ID: view.id,
        Env.ATTEMPT: str(view.job.attempt),
        Env.COORDINATOR: f"{host}:{view.job.coordinator_port}",
    }


def _defaults(
    view: LiveJob, node: Node, gpu_indices: tuple[int, ...], context: TickContext
) -> dict[str, str]:
    """Return what a job may overrule in its `env`."""
    hints = context.environments.network_hints(node)
    if not _has_gpus(view):
        return {**_ON_A_SLOT, **hints}
    return {
        "CUDA_VISIBLE_DEVICES": ",".join(context.environments.gpu_names(node, gpu_indices)),
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",  # as NVML counts; CUDA's own order is by speed
        **hints,
    }


def _has_gpus(view: LiveJob) -> bool:
    return is_of_gpus(view.job.pool)


def _as_torchrun(view: LiveJob, worker: WorkerView, context: TickContext) -> dict[str, str]:
    members = view.members
    neighbours = [w.id for w in members if w.row.node_id == worker.row.node_id]
    if _has_gpus(view) or context.environments.are_workers_apart:
        neighbours = [worker.id]  # it sees its own GPUs only: scripts take LOCAL_RANK for a GPU
    host, port = _rendezvous(view, context)
    return {
        "RANK": str(view.wanted.index(worker.id)),
        "WORLD_SIZE": str(len(view.wanted)),
        "LOCAL_RANK": str(neighbours.index(worker.id)),
        "LOCAL_WORLD_SIZE": str(len(neighbours)),
        "MASTER_ADDR": host,
        "MASTER_PORT": str(port),
        "TORCHELASTIC_RUN_ID": view.id,
        "TORCHELASTIC_RESTART_COUNT": str(max(view.job.attempt - 1, 0)),
    }


def _rendezvous_of(view: LiveJob, context: TickContext) -> dict[str, str]:
    """Return where its workers would meet by themselves, while nobody knows what they are."""
    if not view.members or view.spec.elastic.mode not in {JobMode.AUTO, JobMode.FIXED}:
        return {}
    host, port = _rendezvous(view, context)
    return {Env.RENDEZVOUS: f"{host}:{port}"}


def _rendezvous(view: LiveJob, context: TickContext) -> tuple[str, int]:
    own = arrangement_of(view.assignment).rendezvous_port if view.assignment else None
    port = own or view.job.coordinator_port or 0
    first = view.members[0]
    return context.environments.rendezvous_host(first.id, first.row.node), port


def _gate_of(view: LiveJob) -> dict[str, str]:
    """Return what makes a coordinator keep a gate; it leads nowhere if the list was taken away."""
    if view.spec.network is not JobNetwork.LISTED:
        return {}
    team = view.job.team
    listed = team.reachable if team.network == JobNetwork.LISTED else ()
    return {Env.REACHABLE: ",".join(listed)}


def _to_gate(view: LiveJob, coordinator_host: str) -> dict[str, str]:
    """Return where programs find it; a job may overrule this in its `env`."""
    gate = f"http://{coordinator_host}:{GATE_PORT}"
    return dict.fromkeys(_PROXY, gate) if view.spec.network is JobNetwork.LISTED else {}


def _best_rules(view: LiveJob) -> str:
    best = view.spec.checkpoint.keep_best
    if best is None:
        return ""
    return json.dumps(BestRules(metric=best.metric, goal=best.goal, n=best.n))


def _batch_rules(view: LiveJob) -> BatchRules:
    batch = view.spec.batch
    return {
        "base": batch.global_batch_size.base,
        "lr_scaling": batch.lr_scaling,
        "lr_warmup_steps": batch.lr_warmup_steps,
        "max_per_gpu": batch_limit.of(view.job, view.spec.batch.max_per_worker),
    }
