"""How does the control loop hear that the demand for GPUs may have changed?

Commands announce it; the control loop listens and asks for a tick at once instead of waiting for
the next one. It is a hint and may be lost: ticks come regularly anyway.
"""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.dispatch import Signal

demand_changed: Final = Signal()  # receivers get `job_id: str`, empty when it is no one job's


def announce_demand(job_id: str = "") -> None:
    """Send `demand_changed` once the transaction is committed; receivers cannot break it."""

    def announce() -> None:  # not a partial: Django logs the name of a hook that raises
        demand_changed.send(sender=announce_demand, job_id=job_id)

    transaction.on_commit(announce, robust=True)
