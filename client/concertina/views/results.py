"""What do the results of a job look like in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.jobs import plain_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from concertina.documents import KeptCheckpoint, Output


def outputs_table(outputs: Iterable[Output]) -> Table:
    table = plain_table("SIZE", "WRITTEN", "PATH")
    for one in outputs:
        table.add_row(
            words.NOTHING if one["is_folder"] else words.size(one["bytes"]),
            words.date_time(one["modified_at"]),
            f"{one['path']}/" if one["is_folder"] else one["path"],
        )
    return table


def checkpoints_table(checkpoints: Iterable[KeptCheckpoint]) -> Table:
    """Of metrics those that were logged after the very step of a checkpoint."""
    table = plain_table("STEP", "EPOCH", "METRICS", "SIZE", "WRITTEN", "DIGEST")
    for one in checkpoints:
        own = (metric for metric in one["metrics"] if metric["step"] == one["step"])
        measured = "  ".join(f"{metric['name']} {words.number(metric['value'])}" for metric in own)
        table.add_row(
            str(one["step"]),
            words.number(one["epoch"]),
            measured or words.NOTHING,
            words.size(one["bytes"]),
            words.date_time(one["written_at"]),
            (one["digest"] or words.NOTHING)[:12],
        )
    return table
