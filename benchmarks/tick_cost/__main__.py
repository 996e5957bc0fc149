"""Measure, and print a table: see the package."""

from __future__ import annotations

import argparse
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from benchmarks import tick_cost
from benchmarks.tick_cost import ground

if TYPE_CHECKING:
    from benchmarks.tick_cost.crowd import Crowd
    from benchmarks.tick_cost.measuring import Mark, Meter

SIZES = (100, 300, 1000)
ROUNDS = 3
MOST_ROUNDS_TO_REST = 8


def main() -> None:
    parser = argparse.ArgumentParser(
        description=tick_cost.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("jobs", type=int, nargs="*", default=SIZES)
    parser.add_argument("--workers", type=int, default=4, help="of each job, a GPU each")
    parser.add_argument("--pools", type=int, default=1)
    parser.add_argument("--still", action="store_true", help="all jobs stay as they are")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--statements", action="store_true", help="print those of the last tick")
    arguments = parser.parse_args()
    print(f"{'jobs':>5} {'situation':22} {'part':10} statements    python  postgres")
    with ground.database():
        logging.disable(logging.WARNING)
        for jobs in arguments.jobs:
            measure(jobs, arguments)


def measure(jobs: int, arguments: argparse.Namespace) -> None:
    """All situations of one size."""
    from cluster.in_memory_host import InMemoryHost  # noqa: PLC0415 - once Django is set up
    from django.core.management import call_command  # noqa: PLC0415

    from benchmarks.tick_cost.crowd import Crowd  # noqa: PLC0415
    from benchmarks.tick_cost.measuring import Meter  # noqa: PLC0415

    call_command("flush", interactive=False, verbosity=0)
    host = InMemoryHost()
    meter = Meter(host=host)
    crowd = Crowd(
        host=host,
        jobs=jobs,
        workers=arguments.workers,
        pools=arguments.pools,
        is_still=arguments.still,
    )
    crowd.settle()
    show(jobs, "first of a process", [meter.tick()])
    begun = []
    while meter.puts_off:
        begun.append(meter.tick())
    if begun:
        show(jobs, f"each of the next {len(begun)}", begun)
    come_to_rest(crowd, meter)
    situations: dict[str, Callable[[], object]] = {
        "nothing happened": lambda: None,
        "all reported": crowd.report,
        "5 % churn": lambda: crowd.churn(max(jobs // 20, 1)),
    }
    for name, happen in situations.items():
        ticks = []
        for _ in range(arguments.rounds):
            happen()
            ticks.append(meter.tick())
            statements = Counter(meter.sql)
            come_to_rest(crowd, meter)
        show(jobs, name, ticks)
        if arguments.statements:
            for sql, count in statements.most_common():
                print(f"{count:6} {sql[:200]!r}")


def come_to_rest(crowd: Crowd, meter: Meter) -> None:
    """Let coordinators do what was decided, until hardly anything is; not measured."""
    for _ in range(MOST_ROUNDS_TO_REST):
        if not meter.changes:
            return
        crowd.obey()
        meter.tick()


def show(jobs: int, name: str, ticks: Sequence[list[Mark]]) -> None:
    from benchmarks.tick_cost.measuring import PARTS, Mark, medians  # noqa: PLC0415

    found = medians(ticks)
    total = sum(found, start=Mark(0, 0.0, 0.0))
    for part, cost in zip((*PARTS, "all"), (*found, total), strict=True):
        print(
            f"{jobs:5} {name:22} {part:10} {cost.statements:10}"
            f" {cost.python_seconds:7.2f} s {cost.postgres_seconds:7.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
