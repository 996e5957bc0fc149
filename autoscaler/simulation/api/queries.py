"""What can be asked about simulations? Admins see all, others their own while they may.

Previews and prices of quotas are asked for, and shown, apart.
"""

from __future__ import annotations

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


def simulations_of(principal: Principal) -> QuerySet[Simulation]:
    """Return the newest first."""
    return _of(principal, Simulation.Kind.WORKLOAD)


def replays_of(principal: Principal, kind: Simulation.Kind) -> QuerySet[Simulation]:
    """Return previews or prices of quotas, the newest first."""
    return _of(principal, kind)


def _of(principal: Principal, kind: str) -> QuerySet[Simulation]:
    everybodys = Simulation.objects.filter(kind=kind).order_by("-requested_at", "id")
    if principal.is_admin:
        return everybodys
    if not principal.may_anywhere(Permission.SIMULATE):
        return everybodys.none()
    return everybodys.filter(owner=principal.person_id, owner__isnull=False)


def find_simulation(principal: Principal, simulation_id: str) -> Simulation:
    """Return one simulation.

    Raises:
        SimulationNotFound: unknown, or somebody else's, which looks the same.
    """
    found = simulations_of(principal).filter(pk=simulation_id).first()
    if found is None:
        raise SimulationNotFound
    return found


def find_preview(principal: Principal, preview_id: str) -> Simulation:
    """Return one preview.

    Raises:
        PreviewNotFound: unknown, or somebody else's, which looks the same.
    """
    found = replays_of(principal, Simulation.Kind.QUOTA_PREVIEW).filter(pk=preview_id).first()
    if found is None:
        raise PreviewNotFound
    return found


def find_quota_price(principal: Principal, price_id: str) -> Simulation:
    """Return what a guarantee is worth, as somebody asked for it.

    Raises:
        QuotaPriceNotFound: unknown, or somebody else's, which looks the same.
    """
    found = replays_of(principal, Simulation.Kind.QUOTA_PRICE).filter(pk=price_id).first()
    if found is None:
        raise QuotaPriceNotFound
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
