"""What does it look like what a job's workers take over time?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from concertina.documents import Usage, UsagePoint


def usage_view(taken: Usage) -> RenderableType:
    points, since = taken["items"], taken["idle_since"]
    if not points:
        return Text("Nothing was read of its workers in this time.")
    has_gpus = any(point["gpu_utilisation"] is not None for point in points)
    of_gpus = ("GPU USE", "GPU MEMORY", "POWER") if has_gpus else ()
    table = FittingTable("AT", "WORKERS", "CPU CORES", "MEMORY", *of_gpus)
    for point in points:
        table.add_row(
            words.clock_time(point["at"]),
            str(point["workers"]),
            _cores(point["cpu_cores"]),
            _size(point["memory_bytes"]),
            *(_gpus(point) if has_gpus else ()),
        )
    if since is None:
        return table
    return Group(table, Text(f"All its workers have been idle since {words.clock_time(since)}."))


def _gpus(point: UsagePoint) -> tuple[str, str, str]:
    power = point["gpu_power_watts"]
    return (
        words.percent(point["gpu_utilisation"]),
        _size(point["gpu_memory_bytes"]),
        "-" if power is None else f"{power:.0f} W",
    )


def _cores(cores: float | None) -> str:
    return "-" if cores is None else f"{cores:.2f}"


def _size(bytes_: int | None) -> str:
    return "-" if bytes_ is None else words.size(bytes_)
