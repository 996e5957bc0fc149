"""What can the state machine ask of the process around it? Each kind is one value."""

from __future__ import annotations

from dataclasses import dataclass

from concertina_worker.plan import GenerationPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class SendPlan:
    worker: str
    plan: GenerationPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class SendStore:
    worker: str
    generation: int
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseMember:
    """Tell a worker to end; it is not needed (any more)."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HangUp:
    """A worker was given up: take nothing from it any more."""

    worker: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeeOff:
    """What a worker told is kept: it may end."""

    worker: str


Instruction = SendPlan | SendStore | ReleaseMember | HangUp | SeeOff
