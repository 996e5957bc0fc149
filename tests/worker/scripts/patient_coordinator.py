"""A job's coordinator that waits longer for silent workers: `patient_coordinator.py SECONDS`.

On a machine that runs many tests a worker that lives may be silent for long. It also asks the
service more often what is wanted, so that no test waits for that.
"""

from __future__ import annotations

import sys

from concertina_worker.coordinator import __main__
from concertina_worker.coordinator.connections import synchronising
from concertina_worker.coordinator.updates import heartbeat_rules


def be_patient(seconds: float) -> None:
    heartbeat_rules.SILENCE_SECONDS = heartbeat_rules.LONGEST_SILENCE_SECONDS = seconds  # type: ignore[misc]
    synchronising.SYNC_SECONDS = 0.1  # type: ignore[misc]


if __name__ == "__main__":
    be_patient(float(sys.argv[1]))
    sys.exit(__main__.main())
