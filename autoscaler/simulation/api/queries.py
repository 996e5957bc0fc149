"""What can be asked about simulations? Admins see all, others their own while they may.

Previews and prices of quotas are asked for, and shown, apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db.models import QuerySet
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal

from autoscaler.simulation.api.errors import (
    NoReport,
    PreviewNotFound,
    QuotaPriceNotFound,
    SimulationNotFound,
)
from autoscaler.simulation.api.models import Report, Simulation

_NOT_FOUND: Final[Mapping[Simulation.Kind, type[SimulationNotFound]]] = {
    Simulation.Kind.WORKLOAD: SimulationNotFound,
    Simulation.Kind.QUOTA_PREVIEW: PreviewNotFound,
    Simulation.Kind.QUOTA_PRICE: QuotaPriceNotFound,
}


def simulations_of(principal: Principal) -> QuerySet[Simulation]:
    """Return those of workloads, the newest first."""
    return replays_of(principal, Simulation.Kind.WORKLOAD)


def replays_of(principal: Principal, kind: Simulation.Kind) -> QuerySet[Simulation]:
    """Return the simulations of this kind, the newest first."""
    everybodys = Simulation.objects.filter(kind=kind).order_by("-requested_at", "id")
    if principal.is_admin:
        return everybodys
    if not principal.may_anywhere(Permission.SIMULATE):
        return everybodys.none()
    return everybodys.filter(owner=principal.person_id, owner__isnull=False)


def find_simulation(principal: Principal, simulation_id: str) -> Simulation:
    """Return one simulation of a workload.

    Raises:
        SimulationNotFound: unknown, or somebody else's, which looks the same.
    """
    return find_replay(principal, Simulation.Kind.WORKLOAD, simulation_id)


def find_replay(principal: Principal, kind: Simulation.Kind, replay_id: str) -> Simulation:
    """Return one simulation of this kind.

    Raises:
        SimulationNotFound: unknown, or somebody else's, which looks the same.
    """
    found = replays_of(principal, kind).filter(pk=replay_id).first()
    if found is None:
        raise _NOT_FOUND[kind]
    return found


def report_of(simulation: Simulation) -> str:
    """The page of a completed simulation.

    Raises:
        NoReport: it has not completed.
    """
    report = Report.objects.filter(simulation=simulation).first()
    if report is None:
        raise NoReport
    return report.html
