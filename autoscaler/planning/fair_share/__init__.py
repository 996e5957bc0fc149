"""Who may run? Guarantees first, then borrowing, as far as the smallest sizes fit."""

from autoscaler.planning.fair_share.admission import admit
from autoscaler.planning.fair_share.verdicts import Admission, Refusal, Reservation

__all__ = ["Admission", "Refusal", "Reservation", "admit"]
