"""What does a list of a team's quotas look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from concertina.documents import Quota


def quotas_table(quotas: Iterable[Quota]) -> FittingTable:
    table = FittingTable("POOL", "GUARANTEED", "LENDS AT MOST", "LIMIT", "WEIGHT")
    for quota in quotas:
        table.add_row(
            quota["pool"],
            str(quota["guaranteed_gpus"]),
            _most(quota["lending_limit_gpus"], without="all"),
            _most(quota["limit_gpus"], without="none"),
            f"{quota['over_quota_weight']:g}",
        )
    return table


def _most(gpus: int | None, *, without: str) -> str:
    return without if gpus is None else str(gpus)
