"""What do a team's limits look like, and its GPU-hours of the month?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from concertina.documents import TeamDetail

_THEN = {
    "no_new": "no queued job starts",
    "pause": "running jobs pause, and none starts",
}


def limits_table(team: TeamDetail) -> RenderableType:
    """Show the limits, and a line for its budget and each of those above."""
    table = FittingTable("LIMIT", "AT MOST")
    for name, most in _limits(team):
        table.add_row(name, most)
    budgets = FittingTable("BUDGET OF", "MONTH", "USED", "OF GPU-HOURS", "FORECAST", "THEN")
    for budget in team["budgets"]:
        budgets.add_row(
            budget["team"],
            budget["month"][:7],
            f"{budget['used_gpu_hours']:.1f}",
            f"{budget['gpu_hours']:g}",
            f"{budget['forecast_gpu_hours']:.1f}",
            _THEN.get(budget["then"], budget["then"]),
        )
    return Group(table, "", budgets) if team["budgets"] else table


def _limits(team: TeamDetail) -> Iterator[tuple[str, str]]:
    for name, most in (
        ("running jobs", team["max_running_jobs"]),
        ("running jobs per user", team["max_running_jobs_per_user"]),
        ("waiting jobs", team["max_queued_jobs"]),
        ("waiting jobs per user", team["max_queued_jobs_per_user"]),
        ("GPUs per user", team["max_gpus_per_user"]),
        ("GPU-hours per month", team["gpu_hours_per_month"]),
    ):
        yield name, "none" if most is None else f"{most:g}"
