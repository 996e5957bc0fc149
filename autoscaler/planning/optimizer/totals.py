"""Which numbers of GPUs can some jobs take together?"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autoscaler.planning.optimizer.problem import Claim


def reachable_totals(claims: Iterable[Claim]) -> tuple[int, ...]:
    """Every number of GPUs these claims can take together, ascending (one bit per total)."""
    totals = 1
    for claim in claims:
        sums = 0
        for gpus in {int(size) for size in claim.gpus}:
            sums |= totals << gpus
        totals = sums
    return tuple(total for total in range(totals.bit_length()) if totals >> total & 1)
