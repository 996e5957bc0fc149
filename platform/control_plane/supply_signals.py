"""When do quotas, limits, nodes or pools change? The control loop is asked for a tick at once."""

from __future__ import annotations

from typing import Any

from cluster.models import Node, Pool
from django.db.models.signals import post_delete, post_save
from tenancy.models import FairShareSettings, Quota, TeamLimits

from jobs.changes.demand_signal import announce_demand


def announce_changes() -> None:
    """Ask for a tick, from now on, whenever supply or entitlement changes."""
    for model in (Quota, FairShareSettings, TeamLimits, Node, Pool):
        for signal in (post_save, post_delete):
            signal.connect(_announce, sender=model)


def _announce(**_: Any) -> None:
    announce_demand()
