"""What do GPU-hours look like that were used, lent and borrowed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from concertina.documents import GpuPrice, GpuUsage

_NAMES = ("hour", "day", "month", "team", "user", "pool", "job", "job_name")
_AMOUNTS = {
    "guaranteed_gpu_hours": "GUARANTEED",
    "borrowed_gpu_hours": "BORROWED",
    "lent_gpu_hours": "LENT",
    "reserved_gpu_hours": "RESERVED",
    "idle_gpu_hours": "IDLE",
    "training_gpu_hours": "TRAINING",
    "stalled_gpu_hours": "STALLED",
    "starting_gpu_hours": "STARTING",
    "lost_work_gpu_hours": "LOST WORK",
}
_FIRST_TO_GO = ("RESERVED", "STARTING", "STALLED", "IDLE", "LOST WORK")


def gpu_hours_table(found: GpuUsage) -> FittingTable:
    """Lines as they come: by time, those with most GPU time first. A dash: nobody, or no job."""
    rows: list[dict[str, Any]] = [dict(row) for row in found["items"]]
    names = [name for name in _NAMES if rows and name in rows[0]]
    keys = list(rows[0].get("labels", {})) if rows else []
    heads = [name.upper().replace("_", " ") for name in (*names, *keys)]
    has_costs = found["total"]["cost"] is not None
    costs = ("COST", "CREDIT") if has_costs else ()
    table = FittingTable(*heads, *_AMOUNTS.values(), *costs, first_to_go=_FIRST_TO_GO)
    for row in rows:
        apart = [*(row[name] for name in names), *(row["labels"][key] for key in keys)]
        money = (_money(row[name]) for name in ("cost", "credit")) if has_costs else ()
        table.add_row(*(str(one or words.NOTHING) for one in apart), *_amounts(row), *money)
    return table


def sum_of_gpu_hours(found: GpuUsage) -> str:
    """Say of which time they are, and how many of them jobs held."""
    if found["since"] is None or found["until"] is None:
        return "No hour is accounted for yet."
    held = found["total"]["guaranteed_gpu_hours"] + found["total"]["borrowed_gpu_hours"]
    when = f"{words.date_time(found['since'])} until {words.date_time(found['until'])}"
    return f"{when}: jobs held {_hours(held)} GPU-hours."


def prices_table(prices: Iterable[GpuPrice]) -> FittingTable:
    """Show prices by pool, the oldest first, each with the time in which it holds."""
    table = FittingTable("POOL", "FROM", "UNTIL", "PER GPU-HOUR", "NOW")
    for one in prices:
        table.add_row(
            one["pool"],
            one["since"],
            one["until"] or words.NOTHING,
            f"{one['per_gpu_hour']:,.6f}".rstrip("0").rstrip("."),
            "yes" if one["is_current"] else words.NOTHING,
        )
    return table


def _amounts(row: Mapping[str, Any]) -> Iterator[str]:
    for name in _AMOUNTS:
        yield _hours(row[name])


def _money(amount: float | None) -> str:
    return words.NOTHING if amount is None else f"{amount:,.2f}"


def _hours(hours: float) -> str:
    return f"{hours:,.1f}" if hours else words.NOTHING
