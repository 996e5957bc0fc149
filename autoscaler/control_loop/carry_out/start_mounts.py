"""Where does a worker see what its job starts from? In a folder to which it cannot write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cluster.worker_host import Mount
from storage.errors import ResultUnknown
from storage.models import HeldCheckpoint
from storage.results import held

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from concertina_worker.protocol import Env

TARGET: Final = "/start"


class StartUnavailable(Exception):
    """What a job starts from is not there any more; the message is for the job's users."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenStart:
    """What one worker sees of what its job starts from."""

    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def of(view: LiveJob, context: TickContext) -> SeenStart:
    """Hold it now, if no tick has yet.

    Raises:
        StartUnavailable: it was removed before it could be held.
        OSError: the disk refuses it.
    """
    start = view.spec.start_from
    if start is None:
        return SeenStart()
    row = HeldCheckpoint.objects.filter(for_job=view.id).first()
    source = f"Model {start.model}" if start.model else f"Step {start.step} of job {start.job}"
    gone = StartUnavailable(
        f"{source} was removed before this job could begin with it. Run the job again with another"
        " start_from."
    )
    if row is None or row.state == HeldCheckpoint.State.LOST:
        raise gone
    try:
        folder = held.make(row, context.code.state_dir)
    except ResultUnknown as problem:
        raise gone from problem
    mount = context.environments.data(folder, TARGET, is_writable=False)
    env = {str(Env.START_FROM): mount.target}
    if start.skip:
        env[Env.START_SKIP] = json.dumps(start.skip)
    return SeenStart(mounts=(mount,), env=env)
