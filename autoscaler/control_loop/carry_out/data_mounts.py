"""Where does a worker see its job's data, and which variables tell its script?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from cluster.worker_host import Mount
from storage.data import sources
from storage.data.sources import DataUnavailable

from autoscaler.control_loop.observe.jobs.job_view import LiveJob
from autoscaler.control_loop.tick_context import TickContext
from concertina_worker.protocol import data_variable


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenData:
    """What one worker sees of its job's data."""

    mounts: tuple[Mount, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)


def of(view: LiveJob, context: TickContext) -> SeenData:
    """Look each source up anew: between two starts it may have been moved.

    Raises:
        DataUnavailable: the team may not use one any more, or it is not where it was.
    """
    if (arrival := context.arriving.get(view.id)) is not None and arrival.problem:
        raise DataUnavailable(arrival.problem)
    mounts, env = [], {}
    for use in view.spec.data:
        folder = sources.folder_for(
            view.job.team,
            use.source,
            version=view.job.data_versions.get(use.source, ""),
            is_writing=use.writable,
            rules=context.data,
        )
        mount = context.environments.data(folder, use.target, is_writable=use.writable)
        mounts.append(mount)
        env[data_variable(use.source)] = str(PurePosixPath(mount.target, use.path))
    return SeenData(mounts=tuple(mounts), env=env)
