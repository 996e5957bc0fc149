"""Commands that start workers elsewhere: here each worker is started by itself, with its rank.

A worker's environment is that of `torchrun`: see docs/elastic-script/modes.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Sequence
from typing import Final

from concertina.conversion.converted import Converted

_TORCHRUN: Final = (["torchrun"], ["deepspeed"], ["accelerate", "launch"])
_MODULES: Final = (  # of `python -m`
    ("torch.distributed.run", "a torchrun"),
    ("torch.distributed.launch", "torch.distributed.launch"),
    ("determined.launch.torch_distributed", "Determined's launcher"),
)
_FLAGS: Final = frozenset(  # options of launchers that take no value
    {"--standalone", "--use-env", "--use_env", "--no-python", "--no_python", "-m", "--module"}
    | {"--exclusive", "--overlap", "--label", "-l", "-v", "-u", "--unbuffered", "-K", "--exact"}
    | {"--pty", "--allow-run-as-root", "--multi_gpu", "--multi-gpu"}
)
_OUTER: Final = ("srun", "mpirun", "mpiexec")
_SHELLS: Final = ("bash", "sh", "env")
_OURS: Final = re.compile(r"\s*export (MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|LOCAL_RANK)=")
_PYTHON: Final = re.compile(r"(?:.*/)?python[0-9.]*")
_SETS_SLURM: Final = re.compile(r"\$\{?(SLURM_[A-Z_]+|PMI_[A-Z_]+|OMPI_[A-Z_]+)")


def worker_command(words: Sequence[str], found: Converted) -> list[str]:
    """Return what each worker runs of a command that would start them all."""
    command = _without_outer([*words], found)
    return _without_torchrun(command, found)


def worker_script(body: str, found: Converted, *, is_set: Collection[str] = ()) -> str:
    """Return the script that each worker runs of one that would start them all.

    What `is_set` names is in the environment of workers, whatever else is there that is not.
    """
    lines = _joined(body)
    starting = [place for place, line in enumerate(lines) if _starts_workers(line)]
    for place in starting:
        lines[place] = _worker_line(lines[place], found)
    if len(starting) > 1:
        found.changed("the script", "Each of its steps runs in every worker, one after the other.")
    told = [line for line in lines if line.split()[:1] == ["module"]]
    if told:
        found.changed(told[0], "What modules load has to be in the image, or on the machine, here.")
    for line in lines:
        if _OURS.match(line):
            found.changed(line.strip(), "The platform sets it for each worker: leave the line out.")
    if names := sorted({*_SETS_SLURM.findall("\n".join(lines))} - {*is_set}):
        found.changed(
            ", ".join(f"${name}" for name in names),
            "Nothing sets that here. Workers find RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and"
            " MASTER_PORT in their environment, as torchrun sets them.",
        )
    return "\n".join(lines).strip() + "\n"


def _joined(body: str) -> list[str]:
    """Return the lines of a script, with those in one that a backslash continues."""
    return re.sub(r"\\\n\s*", "", body).splitlines()


def _starts_workers(line: str) -> bool:
    words = line.split()
    if not words:
        return False
    return words[0] in _OUTER or _launcher(words) != "" or _module_at(words) is not None


def _worker_line(line: str, found: Converted) -> str:
    """Return a line of a script so; what a shell makes of its words stays the shell's to do."""
    indent = line[: len(line) - len(line.lstrip())]
    command = worker_command(_shell_words(line.strip()), found)
    return f"{indent}{' '.join(command)}"


def _shell_words(line: str) -> list[str]:
    """Split a line where a shell would, and leave its quotes and variables as they are."""
    lexer = shlex.shlex(line, posix=False, punctuation_chars=False)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return [*lexer]
    except ValueError:  # a quote is open: it ends on a line further down
        return line.split()


def _without_outer(words: list[str], found: Converted) -> list[str]:
    if words[:1] and words[0] in _OUTER:
        rest = words[_end_of_options(words, 1) :]
        if rest:
            found.changed(words[0], "Each worker is started by the platform, once for each GPU.")
            return rest
    return words


def _without_torchrun(words: list[str], found: Converted) -> list[str]:
    at = _module_at(words)
    if name := _launcher(words):
        python, options = "python", len(name.split())
    elif at is not None:
        python, name, options = words[0], _MODULES[_module_of(words[at])][1], at + 1
    else:
        return words
    end = _end_of_options(words, options)
    given, rest = words[options:end], words[end:]
    if not rest:
        return words
    found.changed(name, "Each worker is started by the platform, with the environment it sets.")
    if {"--no-python", "--no_python"} & {*given}:
        return rest
    is_module = bool({"-m", "--module"} & {*given})
    if _PYTHON.fullmatch(rest[0]):  # Determined's takes the whole command
        return rest
    return [python, *(["-m"] if is_module else []), *rest]


def _launcher(words: Sequence[str]) -> str:
    """Return the launcher that a command begins with; empty: none."""
    return next((" ".join(one) for one in _TORCHRUN if [*words[: len(one)]] == one), "")


def _module_at(words: Sequence[str]) -> int | None:
    """Return where the name of a launching module stands; None: nowhere."""
    if not words or not _PYTHON.fullmatch(words[0]):
        return None
    for place, word in enumerate(words[1:4], start=1):
        if words[place - 1] == "-m" and any(word == name for name, _ in _MODULES):
            return place
    return None


def _module_of(word: str) -> int:
    return next(place for place, (name, _) in enumerate(_MODULES) if name == word)


def _is_program(words: Sequence[str], place: int) -> bool:
    word = words[place] if place < len(words) else ""
    return bool(_PYTHON.fullmatch(word)) or word in _SHELLS or word.endswith((".py", ".sh"))


def _end_of_options(words: Sequence[str], start: int) -> int:
    """Return where the options of a launcher end: `--nodes 2`, `--nodes=2` and `-n2` are such."""
    place = start
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        if word == "--":
            return place + 1
        takes_next = word not in _FLAGS and "=" not in word and not _is_program(words, place + 1)
        is_short_with_value = word[1] != "-" and word[2:3].isdecimal()  # as in -n2
        place += 2 if takes_next and not is_short_with_value else 1
    return min(place, len(words))
