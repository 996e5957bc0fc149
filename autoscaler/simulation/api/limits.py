"""How large may a simulation be, and who may ask for one?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal

from autoscaler.simulation.api.errors import SimulationNotAllowed, SimulationTooLarge

if TYPE_CHECKING:  # numpy comes with it, and `tasks` is loaded by every process
    from autoscaler.simulation.engine.workload.trace import Trace

MOST_SIMULATED_JOBS: Final = 20_000  # jobs x policies x clusters; guessed: some minutes of a core
MOST_SECONDS: Final = 1800.0  # of computing; a simulation that takes longer is given up

PAST_IS_KEPT: Final = timedelta(hours=1)  # guessed: so old may be what previews are compared with
MOST_DAYS_OF_PAST: Final = 31


def check_may_simulate(principal: Principal) -> None:
    """Admins and team leads may.

    Raises:
        SimulationNotAllowed: neither.
    """
    if not principal.may_anywhere(Permission.SIMULATE):
        raise SimulationNotAllowed


def check_source(principal: Principal, body: Mapping[str, Any]) -> None:
    """Recorded history tells of all teams' jobs, so it is for admins.

    Raises:
        SimulationNotAllowed: somebody else asks for it.
    """
    if body["trace"]["kind"] == "history" and not principal.is_admin:
        raise SimulationNotAllowed


def check_size(trace: Trace, runs: int) -> None:
    """Refuse what would keep the background worker busy for too long.

    Raises:
        SimulationTooLarge: says how much would be allowed.
    """
    check_jobs(len(trace.jobs), runs)


def check_jobs(jobs: int, runs: int) -> None:
    """Do the same for a number of jobs.

    Raises:
        SimulationTooLarge: says how much would be allowed.
    """
    if jobs * runs > MOST_SIMULATED_JOBS:
        raise SimulationTooLarge(
            f"{jobs:,} jobs in {runs} runs are {jobs * runs:,} simulated jobs; at most"
            f" {MOST_SIMULATED_JOBS:,} are allowed. Simulate at most"
            f" {MOST_SIMULATED_JOBS // runs:,} jobs, fewer days, or fewer policies; larger ones"
            " run on the command line with concertina-simulate."
        )
