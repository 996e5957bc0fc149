"""Which parts make up the control loop of this installation? The only place that chooses."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from cluster.process_environments import ProcessEnvironments
from cluster.worker_host import WorkerHost
from django.conf import settings
from django.utils import timezone
from storage.data.cache.fetches import Fetches
from storage.data.own_places import own_places
from storage.data.rules import DataRules

from autoscaler.reconciling.limits import TimeLimits

if TYPE_CHECKING:
    from autoscaler.control_loop.arriving.arrivals import DataArrivals
    from autoscaler.control_loop.arriving.repositories import CodeArrivals
    from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch
    from autoscaler.control_loop.housekeeping.gpu_discovery import GpuDiscovery
    from autoscaler.control_loop.housekeeping.machine_discovery import MachineDiscovery
    from autoscaler.control_loop.housekeeping.usage_watch import UsageWatch
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
        environments=process_environments(),
        limits=TimeLimits(node_lost_after=settings.CONCERTINA.node_lost_seconds),
        gpu_discovery=_gpu_discovery(),
        machine_discovery=_machine_discovery(),
        usage_watch=_usage_watch(),
        disk_watch=_disk_watch(),
        disk_limits=settings.CONCERTINA.disk_limits,
        data_rules=_data_rules(),
        arrivals=_arrivals(),
        code_limits=settings.CONCERTINA.code_limits,
        code_arrivals=_code_arrivals(),
        shows_other_teams=settings.CONCERTINA.teams_see != "own",
    )


def process_environments() -> ProcessEnvironments:
    """Return what the processes of jobs see."""
    configured = settings.CONCERTINA
    return configured.worker_host.process_environments(configured)


def _data_rules() -> DataRules:
    """Return where data may lie, and never where the service itself is."""
    configured = settings.CONCERTINA
    urls = (configured.redis_url, configured.internal_url, configured.service_url)
    own = own_places(settings.DATABASES["default"], urls)
    return replace(configured.data_rules, own=own)


@lru_cache(maxsize=1)
def worker_host() -> WorkerHost:
    """Return where the processes of jobs run, for all ticks of this process."""
    return new_worker_host()


def new_worker_host() -> WorkerHost:
    """The same processes through connections, locks and threads of its own."""
    configured = settings.CONCERTINA
    return configured.worker_host.host(configured)


@lru_cache(maxsize=1)
def _arrivals() -> DataArrivals:
    """Return what this process fetches, as `_gpu_discovery` what it asked for."""
    from autoscaler.control_loop.arriving.arrivals import DataArrivals  # noqa: PLC0415 - as above

    return DataArrivals(fetches=Fetches(notice=_ask_for_a_tick))


@lru_cache(maxsize=1)
def _code_arrivals() -> CodeArrivals:
    """Return what this process fetches of repositories, as `_arrivals` data."""
    from autoscaler.control_loop.arriving.repositories import PROGRAM, CodeArrivals  # noqa: PLC0415

    return CodeArrivals(fetches=Fetches(notice=_ask_for_a_tick, program=PROGRAM))


def _ask_for_a_tick() -> None:
    from jobs.changes.demand_signal import demand_changed  # noqa: PLC0415 - as above

    demand_changed.send_robust(sender=_ask_for_a_tick, job_id="")


@lru_cache(maxsize=1)
def _gpu_discovery() -> GpuDiscovery:
    """Return what this process asked nodes for; a loop lasts for one tick only."""
    from autoscaler.control_loop.housekeeping.gpu_discovery import GpuDiscovery  # noqa: PLC0415 - as above

    return GpuDiscovery()


@lru_cache(maxsize=1)
def _machine_discovery() -> MachineDiscovery:
    """Return what this process asked nodes of their machines, as `_gpu_discovery` of GPUs."""
    from autoscaler.control_loop.housekeeping.machine_discovery import MachineDiscovery  # noqa: PLC0415

    return MachineDiscovery()


@lru_cache(maxsize=1)
def _usage_watch() -> UsageWatch:
    """Return what this process knows of what workers take, as `_gpu_discovery` of GPUs."""
    from autoscaler.control_loop.housekeeping.usage_watch import UsageWatch  # noqa: PLC0415 - as above

    return UsageWatch()


@lru_cache(maxsize=1)
def _disk_watch() -> DiskWatch:
    """Return what this process looks into, as `_gpu_discovery` what it asked for."""
    from autoscaler.control_loop.housekeeping.disk_watch import DiskWatch, finder  # noqa: PLC0415 - as above

    configured = settings.CONCERTINA
    measure = finder(most_files=configured.disk_limits.most_files)
    return DiskWatch.over(configured.state_dir, measure)
