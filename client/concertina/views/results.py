"""What do the results of a job look like in a terminal?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.jobs import plain_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from concertina.documents import Output


def outputs_table(outputs: Iterable[Output]) -> Table:
    table = plain_table("SIZE", "WRITTEN", "PATH")
    for one in outputs:
        table.add_row(
            words.NOTHING if one["is_folder"] else words.size(one["bytes"]),
            words.date_time(one["modified_at"]),
            f"{one['path']}/" if one["is_folder"] else one["path"],
        )
    return table
