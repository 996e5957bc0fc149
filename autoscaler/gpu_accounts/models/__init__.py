"""What is kept of GPU time: recordings until they are accounted for, and accounts for ever.

None refers to a job, a team or a pool by its row, because all of these may be deleted.

owed         `OwedSpan` and `OwedHour`: what teams were owed, and what of it was not given
recordings   `HeldSpan`, `CapacitySpan`, `PromiseSpan`, `UnseenSpan`, and their clock
months       `MonthsPlace` and `TeamMonth`: which months are told of, and how many jobs ended
prices       `GpuPrice`: what a GPU-hour costs
accounts     `HourLine`, `DayLine` and `TeamDay`, whose they are, and which hours are closed
"""

from autoscaler.gpu_accounts.models.accounts import (
    AccountedJob,
    AccountOwner,
    ClosedHour,
    DayLine,
    HourLine,
    TeamDay,
)
from autoscaler.gpu_accounts.models.months import MonthsPlace, TeamMonth
from autoscaler.gpu_accounts.models.owed import OwedHour, OwedSpan
from autoscaler.gpu_accounts.models.prices import GpuPrice
from autoscaler.gpu_accounts.models.recordings import (
    AccountsClock,
    CapacitySpan,
    HeldSpan,
    PromiseSpan,
    UnseenSpan,
)

__all__ = [
    "AccountOwner",
    "AccountedJob",
    "AccountsClock",
    "CapacitySpan",
    "ClosedHour",
    "DayLine",
    "GpuPrice",
    "HeldSpan",
    "HourLine",
    "MonthsPlace",
    "OwedHour",
    "OwedSpan",
    "PromiseSpan",
    "TeamDay",
    "TeamMonth",
    "UnseenSpan",
]
