"""What does a fairness receipt look like: what a team was owed and not given, and why?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from rich.console import RenderableType

    from concertina.documents import FairnessReceipt

_MOST_TOLD = 20  # shortfalls; `-o csv` has more


def receipt_tables(found: FairnessReceipt) -> RenderableType:
    """Show what was missing by cause, then the newest shortfalls with the jobs that waited."""
    causes = FittingTable("POOL", "CAUSE", "GPU TIME")
    for one in found["missing"]:
        causes.add_row(one["pool"], one["label"], words.duration(one["gpu_seconds"]))
    moments = FittingTable("FROM", "FOR", "GPUS", "POOL", "CAUSE", "JOBS", first_to_go=("POOL",))
    for shortfall in found["shortfalls"][:_MOST_TOLD]:
        moments.add_row(
            words.date_time(shortfall["since"]),
            words.duration(shortfall["gpu_seconds"] / shortfall["gpus"]),
            f"{shortfall['gpus']} of {shortfall['guaranteed_gpus']}",
            shortfall["pool"],
            shortfall["label"],
            " ".join(shortfall["jobs"]),
        )
    return Group(causes, "", moments) if found["shortfalls"] else causes


def receipt_sentence(found: FairnessReceipt) -> str:
    """Say all of it in a sentence, and of which time it is."""
    if found["since"] is None or found["until"] is None:
        return "No hour is accounted for yet."
    when = f"{words.date_time(found['since'])} until {words.date_time(found['until'])}"
    return f"{when}: {found['message']}"
