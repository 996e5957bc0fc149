"""Measure a service under load; see the package."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.service_load import goals, growth, side_by_side
from benchmarks.service_load.measurement import Measurement
from benchmarks.service_load.measuring import measure


def main() -> int:
    options = _parser().parse_args()
    if options.against:
        checkouts = (Path.cwd(), options.against.resolve())
        lines = side_by_side.compare(
            checkouts, options.jobs, seconds=options.seconds, rounds=options.rounds, say=_say
        )
        sys.stdout.write("\n".join(lines) + "\n")
        return 0
    measured = []
    for jobs in options.jobs:
        measured.append(measure(jobs, seconds=options.seconds, say=_say))
        _print(measured[-1], is_json=options.json)
    if options.plots:
        growth.draw(measured, options.plots)
    return 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m benchmarks.service_load", description=__doc__)
    made.add_argument("--jobs", type=int, nargs="+", default=[100], help="default: 100")
    made.add_argument("--seconds", type=float, default=30.0, help="at rest (default: 30)")
    made.add_argument("--against", type=Path, help="another checkout, set up, to measure in turns")
    made.add_argument("--rounds", type=int, default=2, help="turns of each (default: 2)")
    made.add_argument("--plots", type=Path, help="a folder for charts over the number of jobs")
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
