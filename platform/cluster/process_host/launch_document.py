"""What does a supervisor read of a launch? The document of its record, and the folders it needs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from cluster.logs import log_files
from cluster.logs.log_files import LogBounds
from cluster.process_host.commands.plain_python import DEFAULT_PATH
from cluster.process_host.record import records
from cluster.process_host.users import folders, team_users
from cluster.source_root import SOURCE_ROOT
from cluster.worker_host import Launch, ProcessRole
from concertina_worker import protocol

# they are two users
_WORKS_IN: Final = {
    ProcessRole.WORKER: "work",
    ProcessRole.COORDINATOR: "coordinator",
}
_INHERITED: Final = ("HOME", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH")


def of(
    launch: Launch,
    *,
    record: records.CommandRecord,
    state_dir: Path,
    log_bounds: LogBounds,
    python_folders: Sequence[Path] = (),
    hidden_folders: Sequence[Path] = (),
) -> dict[str, Any]:
    """The document; the folders that are the process's own are there, and its user's.

    `python_folders`: from which its interpreter loads; empty: it is ours. `hidden_folders`: not to
    be seen by a team's user.
    """
    labels = launch.labels
    workdir = Path(launch.workdir or state_dir / "jobs" / labels.job_id / _WORKS_IN[labels.role])
    home = state_dir / "homes" / str(launch.user)
    own = _own_folders(launch, workdir, home)
    for folder in own:
        folders.give(folder, launch.user)
    log_path = log_files.path_of(labels.process_id, job_id=labels.job_id, state_dir=state_dir)
    env = {"PATH": DEFAULT_PATH, **_inherited(launch, home), **launch.env, **launch.secret_env}
    return {
        "labels": asdict(labels),
        "node": launch.node,
        "log_path": str(log_path),
        "log_bounds": asdict(log_bounds),
        "command": {
            "arguments": list(launch.command),
            "env": {**env, records.RECORD_VARIABLE: str(record.folder)},
            "workdir": str(workdir),
            "memory_bytes": launch.limits.memory_bytes,
            "user": launch.user,
            "visible": _visible_of(launch, own, python_folders),
            "hidden": [] if launch.user is None else list(map(str, hidden_folders)),
        },
    }


def visible(own: Iterable[Path], python_folders: Sequence[Path] = ()) -> list[str]:
    """Return what a team's user must see: Python, its packages, and its own files.

    `python_folders`: of another interpreter than ours, which needs none of our sources.
    """
    paths = [path.absolute() for path in (*(python_folders or _our_python()), *own)]
    return sorted({str(path) for path in (*paths, *(path.resolve() for path in paths))})


def _our_python() -> Sequence[Path]:
    worker_package = Path(protocol.__file__).parent
    return (
        *(Path(sys.base_prefix), Path(sys.prefix)),
        *(SOURCE_ROOT.parent, worker_package.parent),
    )


def _visible_of(launch: Launch, own: Sequence[Path], python_folders: Sequence[Path]) -> list[str]:
    if launch.user is None:
        return []
    return visible([*own, *_shown(launch)], python_folders)


def _own_folders(launch: Launch, workdir: Path, home: Path) -> list[Path]:
    own = [mount.source for mount in launch.mounts if mount.is_writable and mount.is_ours]
    own += [] if launch.workdir else [workdir]
    return own + ([] if launch.user is None else [home])


def _shown(launch: Launch) -> list[Path]:
    return [mount.source for mount in launch.mounts if not (mount.is_writable and mount.is_ours)]


def _inherited(launch: Launch, home: Path) -> dict[str, str]:
    """Pass on some of the service's environment; its folder for temporary files may be private."""
    found = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    if launch.user is not None:
        return {**found, **team_users.environment_of(launch.user, home=str(home))}
    return {**found, **{name: os.environ[name] for name in ("TMPDIR",) if name in os.environ}}
