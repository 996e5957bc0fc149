"""In which words do the service and the agents of its nodes talk? JSON with a version number.

Both may be one version apart, as they are while an installation is upgraded: what one does not know
it leaves out, and what it is not told is as it was before there were words for it. Whoever changes
what a word means, or adds one that the other has to heed, counts the version up.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TypeVar

from cluster.following.roster import MachineWish, Roster, RosterMachine
from cluster.logs.log_files import LogBounds
from cluster.usage.readings import GpuSample, NodeReading, ProcessUse
from cluster.worker_host import (
    Labels,
    Launch,
    Mount,
    ObservedProcess,
    ProcessLimits,
    ProcessPhase,
    ProcessRole,
)

BEING_STARTED: Final = "its agent is being started"
NOT_LOOKED_AT: Final = "nobody has looked at it yet since the link to Ray was begun"
VERSION: Final = 2  # 1 knew no users of teams

Value = TypeVar("Value")


class OtherVersion(Exception):
    """The other side speaks a version that is more than one away."""

    def __init__(self, theirs: int, ours: int = VERSION) -> None:
        super().__init__(
            f"the service speaks version {theirs} of the language of agents, this node version"
            f" {ours}: they may be one apart. Bring both to one release of Concertina"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPortion:
    """Some bytes of a process's log, all of one of the files that hold it."""

    file_start: int  # the position at which that file begins, which is a part of its name
    position: int  # of the first byte; behind the one asked for where older lines were dropped
    data: bytes


def question(call: str, **arguments: Any) -> str:
    return json.dumps({"version": VERSION, "call": call, **arguments})


def request_of(line: str) -> dict[str, Any]:
    """Read a question.

    Raises:
        OtherVersion: it is of a version that cannot be understood.
    """
    document: dict[str, Any] = json.loads(line)
    if abs(document["version"] - VERSION) > 1:
        raise OtherVersion(document["version"])
    return document


def of_launch(launch: Launch) -> dict[str, Any]:
    """All that a process without a container can be given."""
    return {
        "labels": asdict(launch.labels),
        "command": list(launch.command),
        "env": dict(launch.env),
        "secret_env": dict(launch.secret_env),
        "node": launch.node,
        "workdir": launch.workdir,
        "user": launch.user,
        "gpu_indices": list(launch.gpu_indices),
        "gpu_names": list(launch.gpu_names),
        "limits": asdict(launch.limits),
        "mounts": [{**asdict(mount), "source": str(mount.source)} for mount in launch.mounts],
    }


def launch_of(document: Mapping[str, Any]) -> Launch:
    known = _known(Launch, document)
    mounts = [{**one, "source": Path(one["source"])} for one in known.get("mounts", ())]
    return Launch(
        **{
            **known,
            "labels": labels_of(known["labels"]),
            "command": tuple(known["command"]),
            "gpu_indices": tuple(known.get("gpu_indices", ())),
            "gpu_names": tuple(known.get("gpu_names", ())),
            "limits": ProcessLimits(**_known(ProcessLimits, known.get("limits", {}))),
            "mounts": tuple(Mount(**_known(Mount, mount)) for mount in mounts),
        }
    )


def of_process(process: ObservedProcess) -> dict[str, Any]:
    ended_at = process.ended_at
    return {
        "labels": asdict(process.labels),
        "phase": process.phase.value,
        "started_at": process.started_at.isoformat(),
        "exit_code": process.exit_code,
        "ended_at": None if ended_at is None else ended_at.isoformat(),
        "note": process.note,
    }


def process_of(document: Mapping[str, Any], *, node: str) -> ObservedProcess:
    ended_at = document["ended_at"]
    return ObservedProcess(
        labels=labels_of(document["labels"]),
        node=node,
        phase=ProcessPhase(document["phase"]),
        started_at=datetime.fromisoformat(document["started_at"]),
        exit_code=document["exit_code"],
        ended_at=None if ended_at is None else datetime.fromisoformat(ended_at),
        note=document.get("note", ""),
    )


def labels_of(document: Mapping[str, Any]) -> Labels:
    known = _known(Labels, document)
    return Labels(**{**known, "role": ProcessRole(known["role"])})


def of_portion(portion: LogPortion) -> dict[str, Any]:
    return {**asdict(portion), "data": base64.b64encode(portion.data).decode("ascii")}


def portion_of(document: Mapping[str, Any]) -> LogPortion:
    known = _known(LogPortion, document)
    return LogPortion(**{**known, "data": base64.b64decode(known["data"])})


def of_bounds(bounds: LogBounds) -> dict[str, Any]:
    return asdict(bounds)


def bounds_of(document: Mapping[str, Any]) -> LogBounds:
    return LogBounds(**_known(LogBounds, document))


def roster_of(machines: Sequence[Mapping[str, Any]], unusable: Mapping[str, str]) -> Roster:
    """Read what the link says of the cluster's machines."""
    read = tuple(RosterMachine(**_known(RosterMachine, machine)) for machine in machines)
    return Roster(machines=read, unusable=unusable)


def of_wish(wish: MachineWish) -> dict[str, Any]:
    """Write a wish for one machine as the link leases it."""
    bundle = {"GPU": wish.gpus} if wish.gpus else {"CPU": wish.cpus}
    return {"labels": dict(wish.selector), "bundle": bundle}


def of_reading(reading: NodeReading) -> dict[str, Any]:
    return {
        "at_seconds": reading.at_seconds,
        "processes": {name: asdict(use) for name, use in reading.processes.items()},
        "gpus": {name: asdict(use) for name, use in reading.gpus.items()},
    }


def reading_of(document: Mapping[str, Any]) -> NodeReading:
    return NodeReading(
        at_seconds=document["at_seconds"],
        processes={
            name: ProcessUse(**_known(ProcessUse, use))
            for name, use in document["processes"].items()
        },
        gpus={name: GpuSample(**_known(GpuSample, use)) for name, use in document["gpus"].items()},
    )


def _known(kind: type[Value], document: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out what this version has no words for."""
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]  # dataclasses, all of them
    return {name: value for name, value in document.items() if name in names}
