"""How long does one wait? Run `python -m benchmarks.command_line [--jobs 100] [--rounds 15]`.

Each command is a process of its own, as in a terminal, by turns with the others, against a service
of its own with so many jobs. Prints the median and the least of its processor seconds, of which a
busy machine takes few more, what Python alone takes, and whether the goal is met. To compare with
another checkout: `python -m benchmarks.in_turns ../before command_line`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks.command_line.service import listening

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GOAL: Final = 0.25  # processor seconds
HAVE_A_GOAL: Final = ("--help", "ps")
CONCERTINA: Final = str(Path(sys.executable).parent / "concertina")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    with listening(options.jobs) as service, tempfile.TemporaryDirectory() as home:
        environment = {
            **os.environ,
            "CONCERTINA_URL": service.url,
            "CONCERTINA_TOKEN": service.token,
            "HOME": home,
            "COLUMNS": "120",
        }
        commands: dict[str, Sequence[str]] = {
            "Python alone": (sys.executable, "-c", "pass"),
            "--version": (CONCERTINA, "--version"),
            "--help": (CONCERTINA, "--help"),
            "ps": (CONCERTINA, "ps"),
            "ps -o json": (CONCERTINA, "ps", "-o", "json"),
            "describe JOB": (CONCERTINA, "describe", service.job),
        }
        spent: dict[str, list[float]] = {name: [] for name in commands}
        for name, command in commands.items():  # once for what is compiled and loaded on first use
            _processor_seconds(name, command, environment)
        for _ in range(options.rounds):
            for name, command in commands.items():
                spent[name].append(_processor_seconds(name, command, environment))
    print("| command | median s | least s | goal |")
    print("|---|---|---|---|")
    for name, seconds in spent.items():
        print(
            f"| `{name}` | {median(seconds):.3f} | {min(seconds):.3f} | {_verdict(name, seconds)} |"
        )


def _verdict(name: str, seconds: Sequence[float]) -> str:
    if name not in HAVE_A_GOAL:
        return ""
    return f"≤ {GOAL:g}: {'yes' if median(seconds) <= GOAL else 'no'}"


def _processor_seconds(name: str, command: Sequence[str], env: Mapping[str, str]) -> float:
    """Run it, and return what it and its children took.

    Raises:
        SystemExit: it failed; with what it said.
    """
    process = subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"`{name}` failed: {said}")
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
