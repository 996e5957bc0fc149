"""A job's coordinator that waits longer for silent workers: `patient_coordinator.py STOPPED`.

On a machine that runs many tests a worker that lives may be silent for long. Only for one that is
named in the file STOPPED, because a test has stopped it, nobody waits. The coordinator also asks
the service more often what is wanted, so that no test waits for that either.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from concertina_worker.coordinator import __main__
from concertina_worker.coordinator.connections import synchronising
from concertina_worker.coordinator.knowledge.crew import CrewMember
from concertina_worker.coordinator.updates import heartbeat_rules
from concertina_worker.coordinator.updates.heartbeat_rules import HeartbeatRules

_PATIENCE_SECONDS: Final = 120.0
_TWO_HEARTBEATS: Final = 2.0  # in seconds


def be_patient() -> None:
    heartbeat_rules.SILENCE_SECONDS = _PATIENCE_SECONDS  # type: ignore[misc]
    heartbeat_rules.LONGEST_SILENCE_SECONDS = _PATIENCE_SECONDS  # type: ignore[misc]
    synchronising.SYNC_SECONDS = 0.1  # type: ignore[misc]


def but_not_with(stopped: Path) -> None:
    usual = HeartbeatRules._silence_limit  # noqa: SLF001

    def silence_limit(rules: HeartbeatRules, member: CrewMember, now: float) -> float:
        is_stopped = stopped.exists() and stopped.read_text() == member.worker
        return _TWO_HEARTBEATS if is_stopped else usual(rules, member, now)

    HeartbeatRules._silence_limit = silence_limit  # type: ignore[method-assign] # noqa: SLF001


if __name__ == "__main__":
    be_patient()
    but_not_with(Path(sys.argv[1]))
    sys.exit(__main__.main())
