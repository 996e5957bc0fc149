"""Run the rounds and print what they say: see the package."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks import rescale_stall
from benchmarks.rescale_stall.cold import Cold
from benchmarks.rescale_stall.contender import Contender
from benchmarks.rescale_stall.ours import Ours
from benchmarks.rescale_stall.results import CHANGES, Results, verdicts
from benchmarks.rescale_stall.timeline import Stall
from benchmarks.rescale_stall.torchrun import Torchrun

CONTENDERS: dict[str, type[Contender]] = {"ours": Ours, "cold": Cold, "torchrun": Torchrun}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=rescale_stall.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--models", nargs="+", choices=("small", "large"), default=["small", "large"]
    )
    parser.add_argument("--ways", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and take all jobs along
    for model in arguments.models:
        results, load = Results(), os.getloadavg()[0]
        for number in range(arguments.rounds):
            for way in arguments.ways:
                run_round(CONTENDERS[way], model, results)
            print(f"round {number + 1} of {arguments.rounds} is over", file=sys.stderr, flush=True)
        report(model, results, load)


def run_round(way: type[Contender], model: str, results: Results) -> None:
    """One job from its beginning to its end, through all changes."""
    with tempfile.TemporaryDirectory(prefix="rescale-stall-", ignore_cleanup_errors=True) as folder:
        contender = way(model, Path(folder))
        try:
            contender.begin()
            for before, after in CHANGES:
                results.add(way.name, before, after, contender.change_to(after))
            if isinstance(contender, Ours):
                results.phases += contender.phases()
                results.reported += [g["stall_seconds"] for g in contender.generations]
        finally:
            contender.stop()


def report(model: str, results: Results, load: float) -> None:
    cores = os.cpu_count()
    loads = f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after, {cores} cores"
    print(f"\n{model} model ({loads}; `import torch` takes {import_seconds():.1f} s now)")
    print(f"{'':<24}{'':>9}{'':>9}{'in steps':>18}{'over step before':>18}")
    print(f"{'stall, seconds':<24}{'median':>9}{'max':>9}" + f"{'median':>9}{'max':>9}" * 2, end="")
    print(f"{'changes':>9}{'x ours':>9}")
    for name in results.names:
        for kind in ("joining", "leaving"):
            print(_row(f"{name}, {kind}", results.stalls[name, kind]))
        ratio = f"{results.times_ours(name):>9.0f}" if Ours.name in results.names else ""
        print(_row(f"{name}, all", results.of(name)) + ratio)
    for line in verdicts(model, results):
        print(line)
    report_phases(results)


def _row(title: str, stalls: list[Stall]) -> str:
    columns = (
        [stall.seconds for stall in stalls],
        [stall.in_steps for stall in stalls],
        [stall.over_step_before for stall in stalls],
    )
    numbers = "".join(f"{median(values):>9.3f}{max(values):>9.3f}" for values in columns)
    return f"{title:<24}{numbers}{len(stalls):>9}"


def report_phases(results: Results) -> None:
    """Where the time goes when somebody joins: medians over the handovers."""
    if not results.phases:
        return
    names = {
        "header_seconds": "sending the header",
        "transfer_seconds": "state on its way, beside training",
        "waited_seconds": "of it waited for before a step",
        "steps": "steps that took",
    }
    for key, name in names.items():
        values = [phase[key] for phase in results.phases]
        print(f"  {name:<36}{median(values):>9.4f}{max(values):>9.4f}")
    print(f"  {'stall as the workers report it':<36}{median(results.reported):>9.4f}")


def import_seconds() -> float:
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", "import torch"], check=True)
    return time.monotonic() - began


if __name__ == "__main__":
    main()
