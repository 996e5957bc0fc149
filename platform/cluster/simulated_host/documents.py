"""How are launches and processes written on the line between the service and the simulator?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cluster.worker_host import Labels, Launch, ObservedProcess, ProcessPhase, ProcessRole


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedLaunch:
    """What a simulated process needs to know of its launch."""

    labels: Labels
    node: str
    command: tuple[str, ...]
    env: Mapping[str, str]


def of_launch(launch: Launch) -> dict[str, Any]:
    return {
        "labels": asdict(launch.labels),
        "node": launch.node,
        "command": launch.command,
        "env": {**launch.env, **launch.secret_env},
    }


def launch_of(document: Mapping[str, Any]) -> SimulatedLaunch:
    return SimulatedLaunch(
        labels=labels_of(document["labels"]),
        node=document["node"],
        command=tuple(document["command"]),
        env=document["env"],
    )


def labels_of(document: Mapping[str, Any]) -> Labels:
    return Labels(**{**document, "role": ProcessRole(document["role"])})


def process_of(document: Mapping[str, Any]) -> ObservedProcess:
    ended_at = document["ended_at"]
    return ObservedProcess(
        labels=labels_of(document["labels"]),
        node=document["node"],
        phase=ProcessPhase.RUNNING if ended_at is None else ProcessPhase.EXITED,
        started_at=_moment(document["started_at"]),
        exit_code=document["exit_code"],
        ended_at=None if ended_at is None else _moment(ended_at),
    )


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
