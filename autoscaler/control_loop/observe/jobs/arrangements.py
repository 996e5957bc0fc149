"""What does a later tick need of an assignment? Where its new workers sit and meet, and who leaves.

Written in the tick that decided, read in any after it, so that a crash in between loses nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from autoscaler.control_loop.observe.jobs.seats import Seat
from jobs.models import Assignment


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """The new workers' seats, the port where a set meets by itself, and who leaves for another."""

    seats: tuple[Seat, ...]
    rendezvous_port: int | None
    replaces: str | None = None


def arrangement_of(assignment: Assignment) -> Arrangement:
    if assignment.seats is None:
        return _of_former_release(assignment.decision)
    return Arrangement(
        seats=tuple(Seat(**seat) for seat in assignment.seats),
        rendezvous_port=assignment.rendezvous_port,
        replaces=assignment.replaces or None,
    )


def columns(arrangement: Arrangement, decision: Mapping[str, Any]) -> dict[str, Any]:
    """An assignment's columns for it, and for the decision that it follows from."""
    seats = [asdict(seat) for seat in arrangement.seats]
    return {
        "seats": seats,
        "rendezvous_port": arrangement.rendezvous_port,
        "replaces": arrangement.replaces or "",
        "decision": {**decision, **_for_former_release(arrangement, seats)},
    }


def _for_former_release(arrangement: Arrangement, seats: list[dict[str, Any]]) -> dict[str, Any]:
    """Its processes look among the planner's numbers, as do those after a return to it."""
    return {
        "seats": seats,
        "master_port": arrangement.rendezvous_port,
        "replaces": arrangement.replaces,
    }


def _of_former_release(decision: Mapping[str, Any]) -> Arrangement:
    return Arrangement(
        seats=tuple(Seat(**seat) for seat in decision.get("seats", ())),
        rendezvous_port=decision.get("master_port"),
        replaces=decision.get("replaces"),
    )
