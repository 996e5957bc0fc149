"""What does Docker's description of a container say about its process?

Its moments are by the node's clock, which may be ahead of ours: nothing has happened after now.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from cluster.docker_host.container import labels
from cluster.worker_host import Failing, ObservedProcess, ProcessPhase

RUNNING: Final = frozenset({"running", "paused", "restarting"})
ENDED: Final = frozenset({"exited", "dead"})
_LAST_SIGNAL: Final = 64
_UNSEEN: Final = 255  # what Docker says of one that ended while it did not look: the node fell, say
_SHELL_SIGNALS: Final = 128  # a shell, and Docker, add this to the signal that ended a process
_STAMP: Final = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)")


def observed(details: dict[str, Any], *, now: datetime) -> ObservedProcess | None:
    """The process of a container; None while, or if, it is none of ours that runs or ended."""
    found = details["Config"]["Labels"] or {}
    identity, state = labels.read(found), details["State"]
    if identity is None or state["Status"] not in RUNNING | ENDED:
        return None
    started_at = min(stamp(state["StartedAt"]), now)
    if state["Status"] in RUNNING:
        return ObservedProcess(
            labels=identity,
            node=found.get(labels.NODE, ""),
            phase=ProcessPhase.RUNNING,
            started_at=started_at,
        )
    is_out_of_memory = bool(state["OOMKilled"]) and state["ExitCode"] != 0
    return ObservedProcess(
        labels=identity,
        node=found.get(labels.NODE, ""),
        phase=ProcessPhase.EXITED,
        started_at=started_at,
        exit_code=exit_code(state["ExitCode"]),
        ended_at=max(min(stamp(state["FinishedAt"]), now), started_at),
        failing=Failing.OUT_OF_MEMORY if is_out_of_memory else None,
        note=state["Error"],
    )


def exit_code(code: int) -> int | None:
    """Negative if a signal ended it; None: nobody saw how it ended.

    A script that itself ends with 255 cannot be told from one whose node was switched off.
    """
    if code == _UNSEEN:
        return None
    signal = code - _SHELL_SIGNALS
    return -signal if 0 < signal <= _LAST_SIGNAL else code


def stamp(text: str) -> datetime:
    """Docker's moments have up to nine digits of a second, and drop zeros at their end."""
    found = _STAMP.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no moment of Docker's.")
    whole, fraction, zone = found.groups()
    microseconds = (fraction or ".")[1:7].ljust(6, "0")
    return datetime.fromisoformat(f"{whole}.{microseconds}{zone.replace('Z', '+00:00')}")
