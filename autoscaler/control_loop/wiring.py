"""Which parts make up the control loop of this installation? The only place that chooses."""

from __future__ import annotations

import os
import socket
import sys
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from cluster.process_host.host import ProcessHost
from cluster.worker_host import WorkerHost
from django.conf import settings
from django.utils import timezone

from autoscaler.control_loop.surroundings.containers import Containers
from autoscaler.control_loop.surroundings.machine import Machine
from autoscaler.control_loop.surroundings.surroundings import Surroundings
from autoscaler.reconciling.limits import Limits

if TYPE_CHECKING:
    from autoscaler.control_loop.disk_watch import DiskWatch
    from autoscaler.control_loop.gpu_discovery import GpuDiscovery
    from autoscaler.control_loop.machine_discovery import MachineDiscovery
    from autoscaler.control_loop.tick import ControlLoop


def control_loop() -> ControlLoop:
    """The loop over the real host, planner and clock."""
    # Here, so that only the process that plans loads scipy: it takes longer than all the rest.
    from autoscaler.control_loop.tick import ControlLoop  # noqa: PLC0415
    from autoscaler.installed_policies import installed_policies  # noqa: PLC0415
    from autoscaler.planning import planner  # noqa: PLC0415
    from autoscaler.planning.decisions import invariants  # noqa: PLC0415

    policies = installed_policies()
    return ControlLoop(
        host=worker_host(),
        planner=partial(planner.plan, policies=policies),
        check=partial(invariants.check, policies=policies),
        clock=timezone.now,
        holder=f"{socket.gethostname()}:{os.getpid()}",
        state_dir=settings.CONCERTINA.state_dir,
        surroundings=surroundings(),
        limits=Limits(node_lost_after=settings.CONCERTINA.node_lost_seconds),
        gpu_discovery=_gpu_discovery(),
        machine_discovery=_machine_discovery(),
        disk_watch=_disk_watch(),
        disk_limits=settings.CONCERTINA.disk_limits,
    )


def surroundings() -> Surroundings:
    """What the processes of jobs see."""
    told = settings.CONCERTINA
    if told.has_containers:
        return Containers(
            state_dir=told.state_dir,
            service_url=told.internal_url,
            image=told.containers.worker_image,
        )
    return Machine(
        state_dir=told.state_dir,
        service_url=told.internal_url,
        interpreter=Path(sys.executable),
        team_users=told.team_users,
    )


@lru_cache(maxsize=1)
def worker_host() -> WorkerHost:
    """Where the processes of jobs run, for all ticks of this process."""
    return new_worker_host()


def new_worker_host() -> WorkerHost:
    """The same processes through connections, locks and threads of its own."""
    told = settings.CONCERTINA
    if told.has_containers:
        return _docker_host()
    return ProcessHost(state_dir=told.state_dir, log_bounds=told.log_bounds)


@lru_cache(maxsize=1)
def _gpu_discovery() -> GpuDiscovery:
    """What this process asked nodes for; a loop lasts for one tick only."""
    from autoscaler.control_loop.gpu_discovery import GpuDiscovery  # noqa: PLC0415 - as above

    return GpuDiscovery()


@lru_cache(maxsize=1)
def _machine_discovery() -> MachineDiscovery:
    """As `_gpu_discovery`, of their machines."""
    from autoscaler.control_loop.machine_discovery import MachineDiscovery  # noqa: PLC0415

    return MachineDiscovery()


@lru_cache(maxsize=1)
def _disk_watch() -> DiskWatch:
    """As `_gpu_discovery`, of what jobs write."""
    from autoscaler.control_loop.disk_watch import DiskWatch, finder  # noqa: PLC0415 - as above

    told = settings.CONCERTINA
    measure = finder(most_files=told.disk_limits.most_files)
    return DiskWatch.over(told.state_dir, measure)


def _docker_host() -> WorkerHost:
    # Here, so that an installation without containers never loads Docker's client.
    from cluster.docker_host.host import DockerHost  # noqa: PLC0415

    from autoscaler.control_loop.docker_nodes import DockerNodes  # noqa: PLC0415

    told = settings.CONCERTINA
    asked = told.containers
    user, group = asked.job_user
    return DockerHost(
        state_dir=told.state_dir,
        installation=told.host_id,
        endpoints=DockerNodes(default_url=asked.docker_url, certificates=asked.docker_certs),
        worker_image=asked.worker_image,
        user=f"{user}:{group}",
        coordinator_network=asked.coordinator_network,
        job_network=asked.job_network,
        pids=asked.pids_limit,
        log_bounds=told.log_bounds,
    )
