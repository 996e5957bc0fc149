"""What did the optimizer find, and how does one know that nothing is better?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoscaler.planning.optimizer.problem import Integers


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """An optimal split with its certificate.

    `value` is added up again from the chosen options, `upper_bound` is what no split can exceed;
    `gap` is their difference, 0 up to rounding. `price` is what one more GPU in the pool would add.
    """

    chosen: Integers  # of each job: the index into its own options
    value: float
    upper_bound: float
    gap: float
    price: float
    gpus_used: int
