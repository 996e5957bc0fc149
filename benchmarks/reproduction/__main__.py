"""Write docs/reproduction.md and its pictures: `make reproduce`, or `--quick` for a trial."""

from __future__ import annotations

import argparse
import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Final

from rich.console import Console

from benchmarks.reproduction import page
from benchmarks.reproduction.document import Section
from benchmarks.reproduction.experiments import (
    all_policies,
    deadlines,
    founding_paper,
    resource_elasticity,
    sensitivity,
)
from benchmarks.reproduction.lab import Lab
from benchmarks.reproduction.scale import FULL, QUICK
from benchmarks.reproduction.store import ROOT, Store

EXPERIMENTS: Final = {
    "founding-paper": founding_paper.experiment,
    "all-policies": all_policies.experiment,
    "deadlines": deadlines.experiment,
    "resource-elasticity": resource_elasticity.experiment,
    "sensitivity": sensitivity.experiment,
}
DOCS: Final = ROOT / "docs"
RESULTS: Final = ROOT / "benchmarks" / "results" / "reproduction"


def main() -> None:
    arguments = _arguments()
    console = Console()
    scale = QUICK if arguments.quick else FULL
    if scale is FULL:
        console.print(
            "All of it takes about twenty minutes on two free cores. An interrupted run goes on"
            f" where it stopped: results are kept in {arguments.results}."
        )
    started = perf_counter()
    sections: list[Section] = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(arguments.processes, mp_context=context) as pool:
        lab = Lab(pool=pool, console=console, store=Store.within(arguments.results))
        for name in arguments.only or EXPERIMENTS:
            sections.append(EXPERIMENTS[name](lab, scale))
            page.write(sections, scale, folder=arguments.docs)  # an interrupted run leaves a page
    minutes = (perf_counter() - started) / 60
    console.print(f"Wrote {arguments.docs}/reproduction.md in {minutes:.1f} min.")
    for section in sections:
        for claim in section.claims:
            console.print(f"  {claim.verdict.strip('*'):<14} {claim.statement}: {claim.measured}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make reproduce", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="little of everything: seconds")
    parser.add_argument(
        "--only", action="append", choices=EXPERIMENTS, help="only this experiment; repeatable"
    )
    parser.add_argument("--docs", type=Path, default=DOCS, help="where to write (default: docs/)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where results are kept")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
