"""What does advice about a job's number of workers look like?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina import words
from concertina.views.fitting import FittingTable

if TYPE_CHECKING:
    from concertina.documents import SizeAdvice


def advice_table(advice: SizeAdvice) -> FittingTable:
    """Show each size that the job had: for how long, how fast, and what its last GPU brought."""
    table = FittingTable(
        *("WORKERS", "FOR", "GPU TIME", "SAMPLES/S", "MODEL", "EFFICIENCY", "LAST GPU BRINGS"),
        first_to_go=("MODEL", "GPU TIME"),
    )
    for one in advice["sizes"]:
        if not one["seconds"] and one["samples_per_second"] is None:
            continue
        mark = " knee" if one["workers"] == advice["knee"] else ""
        table.add_row(
            f"{one['workers']}{mark}",
            words.duration(one["seconds"]),
            words.duration(one["gpu_seconds"]),
            _rate(one["samples_per_second"]),
            _rate(one["predicted_samples_per_second"]),
            _share(one["efficiency"]),
            _share(one["gain_of_last_gpu"]),
        )
    return table


def advice_lines(advice: SizeAdvice) -> list[str]:
    """Say what is advised and, if a range is, how the job is run again with it."""
    lines = [advice["message"]]
    suggested = advice["suggested"]
    if suggested is not None:
        changes = [
            f"elastic.min_workers={suggested['min_workers']}",
            f"elastic.max_workers={suggested['max_workers']}",
        ]
        if suggested["allowed_workers"] is not None:
            listed = ",".join(map(str, suggested["allowed_workers"]))
            changes.append(f"'elastic.allowed_workers=[{listed}]'")
        if suggested["requested_workers"] is not None:
            changes.append(f"elastic.requested_workers={suggested['requested_workers']}")
        wanted = "".join(f" --set {one}" for one in changes)
        lines.append(f"Run it again so: concertina rerun {advice['job_id']}{wanted}")
    return lines


def _rate(rate: float | None) -> str:
    return words.NOTHING if rate is None else f"{rate:,.1f}"


def _share(share: float | None) -> str:
    return words.NOTHING if share is None else f"{share:.0%}"
