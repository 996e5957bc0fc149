"""What do the lines `#SBATCH` of a batch script ask for? Options by their long names."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_SHORT: Final[Mapping[str, str]] = {
    "-A": "account",
    "-a": "array",
    "-b": "begin",
    "-C": "constraint",
    "-c": "cpus-per-task",
    "-D": "chdir",
    "-d": "dependency",
    "-e": "error",
    "-G": "gpus",
    "-H": "hold",
    "-i": "input",
    "-J": "job-name",
    "-M": "clusters",
    "-N": "nodes",
    "-n": "ntasks",
    "-o": "output",
    "-p": "partition",
    "-q": "qos",
    "-t": "time",
    "-w": "nodelist",
    "-x": "exclude",
}
_WITHOUT_VALUE: Final = frozenset(
    {"hold", "requeue", "no-requeue", "exclusive", "overcommit", "contiguous", "parsable", "wait"}
)


@dataclass(frozen=True, slots=True)
class BatchScript:
    """A script for `sbatch`: its options, each with its value, and the rest of its lines."""

    options: Mapping[str, str]
    body: str


def read(text: str) -> BatchScript:
    """Read options up to the first command, as Slurm does; of several of a kind the last counts."""
    lines = text.splitlines()
    commands = (place for place, line in enumerate(lines) if line.strip() and line[0] != "#")
    first = next(commands, len(lines))
    options: dict[str, str] = {}
    for line in lines[:first]:
        if line.startswith("#SBATCH"):
            options.update(_options_in(line.removeprefix("#SBATCH")))
    return BatchScript(options, "\n".join(lines[first:]))


def _options_in(line: str) -> dict[str, str]:
    try:
        words = shlex.split(line, comments=True)
    except ValueError:
        words = line.split()
    found: dict[str, str] = {}
    while words:
        word = words.pop(0)
        name, is_given, value = word.partition("=")
        if name.startswith("--"):
            long = name.removeprefix("--")
        else:
            long = _SHORT.get(word[:2], word)
            value, is_given = word[2:].removeprefix("="), word[2:]
        if not is_given and long not in _WITHOUT_VALUE and words and not words[0].startswith("-"):
            value = words.pop(0)
        found[long] = value
    return found
