"""Measure a service under load; see the package."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from dataclasses import replace
from pathlib import Path

from benchmarks.service_load import goals, growth, side_by_side
from benchmarks.service_load.measurement import Measurement
from benchmarks.service_load.measuring import Load, measure

AT_ONCE = ("--start-seconds", "0.1", "--ready-seconds", "0.1", "--switch-seconds", "0.1")
QUICK = Load(
    jobs=1,
    ticks=3,
    tick_seconds=1.0,
    most_workers=1,
    options=AT_ONCE,
    age_seconds=0.0,  # so that all report in so short a time
    changed_share=0.0,
    read_rounds=3,
)


def main() -> int:
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # nothing may be left then, either
    options = _parser().parse_args()
    if options.against:
        checkouts = (Path.cwd(), options.against.resolve())
        how = ("--quick",) if options.quick else ("--ticks", str(options.ticks))
        lines = side_by_side.compare(
            checkouts, options.jobs, how=how, rounds=options.rounds, say=_say
        )
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    measured = [_read(path) for path in options.earlier]
    for jobs in () if measured else options.jobs:
        load = QUICK if options.quick else Load(jobs=jobs, ticks=options.ticks)
        measured.append(measure(replace(load, jobs=jobs), say=_say))
        _print(measured[-1], is_json=options.json)
    if len(measured) > 1 and not options.json:
        sys.stdout.write("\n".join(goals.overview(measured)) + "\n")
    if options.plots:
        growth.draw(measured, options.plots)
    return 0


def _read(path: Path) -> Measurement:
    return Measurement.of(json.loads(path.read_text()))


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks.service_load", description=__doc__)
    made.add_argument("--jobs", type=int, nargs="+", default=[100], help="default: 100")
    made.add_argument("--ticks", type=int, default=6, help="of 5 s, to measure (default: 6)")
    made.add_argument(
        "--quick", action="store_true", help="a few ticks of 1 s, to count and not to time"
    )
    made.add_argument("--against", type=Path, help="another checkout, set up, to measure in turns")
    made.add_argument("--rounds", type=int, default=2, help="turns of each (default: 2)")
    made.add_argument("--plots", type=Path, help="a folder for charts over the number of jobs")
    made.add_argument(
        "--earlier",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="what earlier runs printed with --json, instead of measuring anew",
    )
    made.add_argument("--json", action="store_true", help="a document a line, for programs")
    return made


def _print(measured: Measurement, *, is_json: bool) -> None:
    text = json.dumps(measured.document()) if is_json else "\n".join(goals.lines(measured))
    sys.stdout.write(text + "\n\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
