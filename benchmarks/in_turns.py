"""Are a benchmark's figures as good as another checkout's? Each checkout runs its own, in turns.

    python -m benchmarks.in_turns ../before decision_time [--rounds 3] [-- OPTIONS]

Both checkouts have to be set up, and both have to have a benchmark of that name; `OPTIONS` go to
it. What is printed is what this checkout's benchmark prints. Where a number differs between runs,
its median there and its median here stand instead, with their ratio. Lines that only one of the
two prints are counted. Last come the medians of the processor time of a whole run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from os import wait4
from pathlib import Path
from statistics import median
from typing import Final

NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")

PLACE: Final = "\0"  # of a number, among the words of a line

Line = tuple[str, int]  # the words between the numbers, and which of the lines with these it is


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkRun:
    """What one run of a benchmark printed, and the processor seconds that it took."""

    printed: str
    seconds: float


def main() -> int:
    given, for_benchmark = split_at_dashes(sys.argv[1:])
    options = _parser().parse_args(given)
    checkouts = (options.other.resolve(), Path.cwd())
    ran: tuple[list[BenchmarkRun], list[BenchmarkRun]] = ([], [])
    for turn in range(options.rounds):
        for runs, checkout in zip(ran, checkouts, strict=True):
            sys.stderr.write(f"turn {turn + 1} of {options.rounds}: {checkout}\n")
            runs.append(_run(checkout, options.benchmark, for_benchmark))
    sys.stdout.write("\n".join(compare(*ran)) + "\n")
    return 0


def split_at_dashes(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return what stands before `--`, and what stands behind it."""
    place = arguments.index("--") if "--" in arguments else len(arguments)
    return arguments[:place], arguments[place + 1 :]


def compare(there: Sequence[BenchmarkRun], here: Sequence[BenchmarkRun]) -> Iterator[str]:
    """Yield the lines that both print, with both medians of each number that differs."""
    numbers_there, numbers_here = _numbers_of(there), _numbers_of(here)
    for line in numbers_here:
        if line in numbers_there:
            pairs = zip(zip(*numbers_there[line]), zip(*numbers_here[line]))  # noqa: B905
            yield _filled(line[0], [_compared(*pair) for pair in pairs])
    for which, mine, others in (
        ("there", numbers_there, numbers_here),
        ("here", numbers_here, numbers_there),
    ):
        if only := len(mine.keys() - others.keys()):
            yield f"({only} lines are printed {which} only)"
    seconds = [[f"{run.seconds:.2f}" for run in runs] for runs in (there, here)]
    yield f"processor seconds of a run: {_compared(*seconds)}"


def _numbers_of(runs: Sequence[BenchmarkRun]) -> dict[Line, list[list[str]]]:
    """The numbers of each line as printed by each run that prints it."""
    found: dict[Line, list[list[str]]] = {}
    for run in runs:
        seen: defaultdict[str, int] = defaultdict(int)
        for text in run.printed.splitlines():
            words = NUMBER.sub(PLACE, " ".join(text.split()))
            if words:
                seen[words] += 1
                found.setdefault((words, seen[words]), []).append(NUMBER.findall(text))
    return found


def _compared(there: Sequence[str], here: Sequence[str]) -> str:
    if len({*there, *here}) == 1:
        return here[0]
    before, after = (median(float(one.replace(",", "")) for one in runs) for runs in (there, here))
    ratio = f" (x {after / before:.2f})" if before else ""
    return f"{before:.10g} -> {after:.10g}{ratio}"


def _filled(words: str, numbers: Sequence[str]) -> str:
    return "".join(chain.from_iterable(zip(words.split(PLACE), (*numbers, ""), strict=True)))


def _run(checkout: Path, benchmark: str, options: Sequence[str]) -> BenchmarkRun:
    command = [str(checkout / ".venv/bin/python"), "-m", f"benchmarks.{benchmark}", *options]
    with subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = wait4(process.pid, 0)
        process.returncode = status
    if status:
        raise SystemExit(f"{' '.join(command)} failed in {checkout}: see above.")
    return BenchmarkRun(printed=printed, seconds=usage.ru_utime + usage.ru_stime)


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.in_turns",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("other", type=Path, help="another checkout, set up")
    made.add_argument("benchmark", help="its name, for example decision_time")
    made.add_argument("--rounds", type=int, default=3, help="turns of each (default: 3)")
    return made


if __name__ == "__main__":
    sys.exit(main())
