"""How much did each team use lately? GPU-seconds that halve every half-life, kept up to date.

One row per team and pool holds the sum at one moment; from there to any later one it decays and
grows in closed form, so no history is read and nothing is lost when a look comes late.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime

from tenancy.models import DecayedUsage, FairShareSettings

Key = tuple[int, int]  # pool, team


def decayed(gpu_seconds: float, *, gpus: int, seconds: float, half_life_seconds: float) -> float:
    """Return the sum `seconds` later, with so many GPUs held in between.

    sum x 2^(-t / h)  +  gpus x h / ln 2 x (1 - 2^(-t / h))
    """
    left = math.exp2(-seconds / half_life_seconds)
    return gpu_seconds * left + gpus * half_life_seconds / math.log(2) * (1 - left)


def record(held: Mapping[Key, int], now: datetime) -> None:
    """Bring all sums up to `now`; `held` are each team's GPUs in each pool since the last time."""
    half_lives = FairShareSettings.half_lives()
    rows = {(row.pool_id, row.team_id): row for row in DecayedUsage.objects.all()}
    for key in held.keys() - rows.keys():
        rows[key] = DecayedUsage(pool_id=key[0], team_id=key[1], gpu_seconds=0.0, at=now)
    for key, row in rows.items():
        row.gpu_seconds = decayed(
            row.gpu_seconds,
            gpus=held.get(key, 0),
            seconds=max((now - row.at).total_seconds(), 0.0),
            half_life_seconds=half_lives[key[0]],
        )
        row.at = max(now, row.at)
    DecayedUsage.objects.bulk_create(
        rows.values(),
        update_conflicts=True,
        unique_fields=["pool", "team"],
        update_fields=["gpu_seconds", "at"],
    )


def gpu_seconds() -> Mapping[Key, float]:
    """Return the sums as they were last recorded, by pool and team."""
    rows = DecayedUsage.objects.values_list("pool_id", "team_id", "gpu_seconds")
    return {(pool, team): seconds for pool, team, seconds in rows}
