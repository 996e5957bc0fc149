"""What does caution cost? Run `python -m benchmarks.caution [--hot] [--seeds 8] [--before COMMIT]`.

Replays the six applications of the reproduction (160 jobs, 64 GPUs) under the planner's own rule of
when to change a job, beside an oracle that knows every job's speed from the start. Further rows
take away more (the lengths of jobs, the quality of measurements), switch off parts of the rule, or
have jobs whose speed no throughput model describes. Each is averaged over the seeds; how far the
mean completion time is from that of an oracle of the same jobs is told with twice the standard
error of the paired difference. A replay takes some 5 s of a processor, a hot one 20 s.

`--before 4fe76947^` adds the planner of that commit, the last one of the former rule.
"""

from __future__ import annotations

import argparse
import json
import os
import sys

from benchmarks.caution import figures
from benchmarks.caution.before import replayed_before
from benchmarks.caution.replays import replayed
from benchmarks.caution.rows import MEASURED, ORACLES, ROWS


def main() -> None:
    arguments = _arguments()
    rows = [row for row in ROWS if not arguments.rows or row.name in arguments.rows]
    found = replayed(
        rows, seeds=arguments.seeds, is_hot=arguments.hot, processes=arguments.processes
    )
    if arguments.json:
        sys.stdout.write(json.dumps({row.name: figures_ for row, figures_ in found.items()}))
        return
    print(figures.line(figures.HEADINGS))
    print(figures.line(["---"] * len(figures.HEADINGS)))
    for row in rows:
        print(figures.line(figures.cells(row.name, found[row], found.get(ORACLES[row.truth]))))
    if arguments.before:
        before = replayed_before(
            arguments.before,
            seeds=arguments.seeds,
            is_hot=arguments.hot,
            processes=arguments.processes,
        )
        oracle = found.get(ORACLES[MEASURED.truth])
        print(
            figures.line(
                figures.cells(f"measured, by the code of {arguments.before}", before, oracle)
            )
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hot", action="store_true", help="changes of 1 s, a tick of 10 s")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("--rows", nargs="*", default=(), help="their names; default: all")
    parser.add_argument("--before", metavar="COMMIT", help="also replay by the code of a commit")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--json", action="store_true", help="figures of each replay, for programs")
    return parser.parse_args()


if __name__ == "__main__":
    main()
