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

from autoscaler.control_loop.shell import Surroundings

if TYPE_CHECKING:
    from autoscaler.control_loop.tick import ControlLoop


def control_loop() -> ControlLoop:
    """The loop over the real host, planner and clock."""
    # Here, so that only the process that plans loads scipy: it takes longer than all the rest.
    from autoscaler.control_loop.tick import ControlLoop  # noqa: PLC0415
    from autoscaler.installed_policies import installed_policies  # noqa: PLC0415
    from autoscaler.planning import invariants, planner  # noqa: PLC0415

    policies = installed_policies()
    return ControlLoop(
        host=worker_host(),
        planner=partial(planner.plan, policies=policies),
        check=partial(invariants.check, policies=policies),
        clock=timezone.now,
        holder=f"{socket.gethostname()}:{os.getpid()}",
        surroundings=Surroundings(
            state_dir=settings.CONCERTINA.state_dir,
            service_url=settings.CONCERTINA.service_url,
            python=Path(sys.executable),
        ),
    )


@lru_cache(maxsize=1)
def worker_host() -> WorkerHost:
    """Where the processes of jobs run."""
    return ProcessHost(state_dir=settings.CONCERTINA.state_dir)
