"""What do the lines `#SBATCH` of a batch script ask for? Options by their long names."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
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
_OPTIONS: Final = re.compile(r"#SBATCH(?:\s|$)")
_OTHERWISE: Final[Mapping[str, str]] = {"tasks-per-node": "ntasks-per-node", "workdir": "chdir"}
_WITHOUT_VALUE: Final = frozenset(
    {"hold", "requeue", "no-requeue", "exclusive", "overcommit", "contiguous", "parsable", "wait"}
)


@dataclass(frozen=True, slots=True)
class BatchScript:
    """A script for `sbatch`: its options, each with its value, and the rest of its lines."""

    options: Mapping[str, str]
    body: str
    interpreter: Sequence[str] = ("bash",)  # and its options
    is_heterogeneous: bool = False  # then the options are those of its first part


def read(text: str) -> BatchScript:
    """Read options up to the first command, as Slurm does; of several of a kind the last counts."""
    lines = text.split("\n")
    commands = (
        place for place, line in enumerate(lines) if line.strip() and line.lstrip()[0] != "#"
    )
    first = next(commands, len(lines))
    options: dict[str, str] = {}
    is_heterogeneous = False
    for line in lines[:first]:
        if _OPTIONS.match(line) and not is_heterogeneous:
            given = _options_in(line.removeprefix("#SBATCH"))
            is_heterogeneous = bool({"hetjob", "packjob"} & given.keys())
            options.update({} if is_heterogeneous else given)
    return BatchScript(options, "\n".join(lines[first:]), _interpreter(lines[0]), is_heterogeneous)


def _interpreter(line: str) -> Sequence[str]:
    """Return what a script's first line says to run it by, without its folder; else `bash`."""
    if not line.startswith("#!"):
        return ("bash",)
    program, *options = line[2:].split() or ["bash"]
    if program.rpartition("/")[2] == "env":
        program, *options = [one for one in options if one != "-S"] or ["bash"]
    return (program.rpartition("/")[2], *options)


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
            long = _SHORT.get(word[:2], "") if word.startswith("-") else ""
            value, is_given = word[2:].removeprefix("="), word[2:]
            if not long:
                long, value = word, ""
                is_given = word
        if not is_given and long not in _WITHOUT_VALUE and words and not words[0].startswith("-"):
            value = words.pop(0)
        found[_OTHERWISE.get(long, long)] = value
    return found
