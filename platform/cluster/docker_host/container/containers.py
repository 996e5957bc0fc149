"""As what kind of container does a launch run? What keeps it from harming others is here.

A container sees a root file system that it cannot change, its mounts, its own scratch folder, and
a small /tmp in memory. It has no capabilities and cannot get any.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from autoscaler.job_network import JobNetwork
from cluster.docker_host.container import secrets_file
from cluster.docker_host.container.job_network import of_launch
from cluster.worker_host import Launch, Mount, ProcessLimits, ProcessRole

MOST_PROCESSES: Final = 4096  # guessed: data loaders of many workers fit, a fork bomb ends early
SCRATCH: Final = "/scratch"
_TMP: Final = {"/tmp": "rw,exec,nosuid,nodev,mode=1777,size=256m"}  # noqa: S108 # guessed: sockets, small files
_SHM: Final = "/dev/shm"  # noqa: S108 - each container has its own
_VOLUME_BYTES: Final = 64 << 20  # guessed: the state of some program that a job hardly uses
_NOBODY: Final = "127.0.0.1"  # within a container, where no resolver listens
_OOM_SCORE: Final = 500  # of 1000: where a node runs out of memory, jobs go before the platform
_CPU_WEIGHT: Final = 8192  # of a whole node where CPUs are short, eight times a plain container's
_LOG_FILES: Final = 2  # Docker starts a new one when one is full, and drops the oldest


@dataclass(frozen=True, slots=True, kw_only=True)
class Confinement:
    """What holds for every container of an installation."""

    user: str  # uid:gid
    pids: int  # processes and threads of one container
    open_files: int
    log_bytes: int  # of one process, kept by Docker until they are copied
    network: JobNetwork


def name_of(process_id: str, *, installation: str) -> str:
    """Unique on a daemon, so that one process cannot run twice there."""
    return f"concertina-{installation}-{process_id}"


def scratch_of(launch: Launch, *, state_dir: Path) -> Path | None:
    """A folder of its own, for what it writes while it runs; coordinators need none."""
    if launch.labels.role is not ProcessRole.WORKER:
        return None
    return scratch_folder(launch.labels.job_id, launch.labels.process_id, state_dir=state_dir)


def scratch_folder(job_id: str, process_id: str, *, state_dir: Path) -> Path:
    return state_dir / "jobs" / job_id / "scratch" / process_id


def discarded_folder(*, state_dir: Path) -> Path:
    """Return where scratch folders wait for their end: `jobs` may be a file system of its own."""
    return state_dir / "jobs" / ".discarded"


def environment(launch: Launch) -> dict[str, str]:
    """Return the container's variables; secrets are not among them.

    NVIDIA's runtime, where it is the daemon's default, adds the GPUs that NVIDIA_VISIBLE_DEVICES
    names, all of them where an image says so. Hence the platform has the last word: those of the
    device request, which Docker itself writes there, or none.
    """
    home = SCRATCH if launch.labels.role is ProcessRole.WORKER else "/tmp"  # noqa: S108 - its own
    gpus = ",".join(launch.gpu_names) or "void"
    return {"HOME": home, **launch.env, "NVIDIA_VISIBLE_DEVICES": gpus}


def working_directory(launch: Launch) -> str:
    return launch.workdir or (SCRATCH if launch.labels.role is ProcessRole.WORKER else "/")


def host_config(
    launch: Launch,
    confinement: Confinement,
    *,
    network: str,
    mounts: Iterable[Mount],
) -> dict[str, Any]:
    """The API's HostConfig: limits, mounts, GPUs."""
    limits = launch.limits
    memory = memory_bytes(limits)
    return {
        "NetworkMode": network,
        "Dns": _resolvers(launch, confinement),
        "Init": True,
        "RestartPolicy": {"Name": "no"},  # the planner decides
        "ReadonlyRootfs": True,
        "CapDrop": ["ALL"],
        "SecurityOpt": ["no-new-privileges"],
        "PidsLimit": confinement.pids,
        "Ulimits": [_ulimit("nofile", confinement.open_files), _ulimit("core", 0)],
        "Memory": memory,
        "MemorySwap": memory,  # together: no swap
        "OomScoreAdj": _OOM_SCORE,
        "NanoCpus": int((limits.cpus or 0) * 1e9),
        "CpuShares": cpu_shares(limits),
        "ShmSize": shm_bytes(limits),
        "Tmpfs": _TMP,
        "Mounts": [_mount(mount) for mount in mounts],
        "DeviceRequests": _gpus(launch),
        "LogConfig": _log_config(confinement.log_bytes),
    }


def over_volumes(config: Mapping[str, Any], volumes: Iterable[str]) -> dict[str, Any]:
    """The config, with a little memory where Docker would make a volume without any bound."""
    host = config["HostConfig"]
    taken = {mount["Target"] for mount in host["Mounts"]} | set(host["Tmpfs"])
    wanted = {posixpath.normpath(volume) for volume in volumes} - taken
    sizes = {_SHM: host["ShmSize"]}
    more = [_memory(target, sizes.get(target, _VOLUME_BYTES)) for target in sorted(wanted)]
    mounts = [*host["Mounts"], *more]
    return {**config, "HostConfig": {**host, "Mounts": mounts}}


def command(launch: Launch) -> list[str]:
    """The shell that exports secrets, then the command itself; no entry point of the image."""
    return [*secrets_file.PROLOGUE, *launch.command]


def _ulimit(name: str, value: int) -> dict[str, Any]:
    return {"Name": name, "Soft": value, "Hard": value}


def memory_bytes(limits: ProcessLimits) -> int:
    """Return the limit of a launch that `NodeMemory` bounded: no container is without one."""
    if limits.memory_bytes is None:
        raise ValueError("A container must have a limit of memory.")
    return limits.memory_bytes


def cpu_shares(limits: ProcessLimits) -> int:
    """Return the weight of its wish for CPU time while others want some; Docker takes no less."""
    return max(int(limits.node_share * _CPU_WEIGHT), 2)


def shm_bytes(limits: ProcessLimits) -> int:
    """Return how large /dev/shm is under these limits."""
    return memory_bytes(limits) // 2 if limits.shm_bytes is None else limits.shm_bytes


def _mount(mount: Mount) -> dict[str, Any]:
    return {
        "Type": "bind",
        "Source": str(mount.source),
        "Target": mount.target,
        "ReadOnly": not mount.is_writable,
        "BindOptions": {"Propagation": "rprivate"},
    }


def _memory(target: str, size_bytes: int) -> dict[str, Any]:
    return {
        "Type": "tmpfs",
        "Target": target,
        "TmpfsOptions": {"SizeBytes": size_bytes, "Mode": 0o1777},
    }


def _resolvers(launch: Launch, confinement: Confinement) -> list[str]:
    """Return the servers to ask for foreign names; nobody, where its network leads nowhere.

    Else Docker before 25.0.5 asks those of the node in its stead, and names carry words outside.
    """
    network = of_launch(launch, confinement.network)
    is_alone = launch.labels.role is ProcessRole.WORKER and network is not JobNetwork.EGRESS
    return [_NOBODY] if is_alone else []


def _gpus(launch: Launch) -> list[dict[str, Any]]:
    if not launch.gpu_names:
        return []
    return [
        {
            "Driver": "nvidia",
            "DeviceIDs": list(launch.gpu_names),
            "Capabilities": [["gpu", "compute", "utility"]],
        }
    ]


def _log_config(most_bytes: int) -> dict[str, Any]:
    size = str(max(most_bytes // _LOG_FILES, 1))
    return {"Type": "json-file", "Config": {"max-size": size, "max-file": str(_LOG_FILES)}}
