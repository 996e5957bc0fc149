"""What can go wrong with a request for a simulation? One class per situation, each with a code."""

from __future__ import annotations

from typing import ClassVar


class SimulationError(Exception):
    """A simulation cannot be done."""

    code: ClassVar[str]
    status: ClassVar[int]

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.__doc__)


class SimulationNotFound(SimulationError):
    """There is no such simulation."""

    code, status = "not_found", 404


class PreviewNotFound(SimulationNotFound):
    """There is no such preview."""


class QuotaPriceNotFound(SimulationNotFound):
    """Nobody asked for the price of a quota under this id."""


class SimulationNotAllowed(SimulationError):
    """Only admins simulate recorded history, and only they and team leads simulate at all."""

    code, status = "permission_denied", 403


class SimulationTooLarge(SimulationError):
    """This simulation would take too long; simulate fewer jobs or policies."""

    code, status = "simulation_too_large", 422


class WorkloadRefused(SimulationError):
    """No workload can be made of this request."""

    code, status = "invalid_workload", 422


class AlreadyOver(SimulationError):
    """The simulation is over and cannot be cancelled."""

    code, status = "illegal_transition", 409


class TooManyWaiting(SimulationError):
    """Enough simulations wait already; cancel one, or wait until one is done."""

    code, status = "too_many_simulations", 429


class NoReport(SimulationError):
    """The simulation has no report: only completed ones do."""

    code, status = "no_report", 404
