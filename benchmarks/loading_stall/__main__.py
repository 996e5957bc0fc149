"""Run the rounds and print what they say: see the package."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import defaultdict
from pathlib import Path
from statistics import median

from benchmarks import loading_stall
from benchmarks.loading_stall.script import BATCH
from benchmarks.rescale_stall.ours import Ours

WAYS = ("ahead", "at once", "cold", "in worker")
CHANGES = ((1, 2), (2, 3), (3, 2), (2, 1))


class Loading(Ours):
    """Its `model` is a way of loading."""

    script = Path(__file__).with_name("script.py")

    def batch_of(self, model: str) -> int:  # noqa: ARG002
        return BATCH


def main() -> None:
    parser = argparse.ArgumentParser(
        description=loading_stall.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    stalls: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(arguments.rounds):
        for way in WAYS:
            run_round(way, stalls)
    print(f"load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print(f"{'stall, seconds':<24}{'median':>9}{'max':>9}{'changes':>9}")
    for (way, kind), seconds in sorted(stalls.items()):
        row = f"{median(seconds):>9.3f}{max(seconds):>9.3f}{len(seconds):>9}"
        print(f"{f'{way}, {kind}':<24}{row}")


def run_round(way: str, stalls: dict[tuple[str, str], list[float]]) -> None:
    """One job through all changes."""
    with tempfile.TemporaryDirectory(prefix="loading-stall-", ignore_cleanup_errors=True) as folder:
        job = Loading(way, Path(folder))
        try:
            job.begin()
            for before, after in CHANGES:
                kind = "joining" if after > before else "leaving"
                stalls[way, kind].append(job.change_to(after).seconds)
        finally:
            job.stop()


if __name__ == "__main__":
    main()
