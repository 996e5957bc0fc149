"""Who may run? Guarantees first, then borrowing, as far as the smallest sizes fit.

admission       the answer for one pool: `admit`
admission_pass  one pass over all jobs, in order
verdicts        what admission answers
---
lending         who may borrow what is left, and for whom it is saved up
lending_queue   whose turn it is to borrow
dropping        which new jobs are refused for good
precedence      which job comes before which
---
ledger          what was given away so far
entitlement     what each team may claim, and which jobs are within the claim
occupancy       how much of the pool each subtree of teams takes up
usage           how much earlier use counts against a team
"""

from autoscaler.planning.fair_share.admission import admit
from autoscaler.planning.fair_share.verdicts import Admission, AdmissionRefusal, Reservation

__all__ = ["Admission", "AdmissionRefusal", "Reservation", "admit"]
