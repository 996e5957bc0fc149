"""Commands that start workers elsewhere: here each worker is started by itself, with its rank.

A worker's environment is that of `torchrun`: see docs/elastic-script/modes.md.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from concertina.conversion.converted import Converted
from concertina.conversion.shell_commands import ScriptWord, commands

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
_TAKES_TWO: Final = ("--mca", "-mca", "--gmca", "-gmca", "--prtemca", "--pmixmca")  # of Open MPI
_OUTER: Final = ("srun", "mpirun", "mpiexec")
_SHELLS: Final = ("bash", "sh", "env")
_OURS: Final = re.compile(r"(MASTER_ADDR|MASTER_PORT|WORLD_SIZE|RANK|LOCAL_RANK)=")
_PREFIX: Final = re.compile(
    r"[A-Za-z_]\w*(?:\[.*\])?\+?=.*|if|then|else|elif|do|while|until|time|exec|nohup|env|[!{]",
    re.DOTALL,
)
_PREPARES: Final = frozenset(
    {
        "cd",
        "export",
        "set",
        "module",
        "ml",
        "source",
        ".",
        "echo",
        "ulimit",
        "unset",
        "conda",
        "date",
    }
    | {
        "for",
        "done",
        "fi",
        "esac",
        "}",
        "exit",
        "hostname",
        "nvidia-smi",
        "[",
        "[[",
        "umask",
        "wait",
    }
)
_ENTERS: Final = re.compile(r"(?:conda|mamba|micromamba) activate|(?:source|\.) .*activate\b")
_TAKES_SCRIPT: Final = re.compile(r"-[a-z]*c")
_STAYING: Final = (
    (
        re.compile(
            r"(?<![\w./-])(?:srun|mpirun|mpiexec|torchrun|horovodrun|accelerate launch)(?![\w./-])"
            r"|(?:torch\.distributed\.(?:run|launch)|determined\.launch\.\w+)\b"
        ),
        "It still stands in the script, and would start workers in each worker: take it out.",
    ),
    (
        re.compile(r"(?<![\w./-])(?:scontrol|sbatch|sacct|squeue|scancel|sinfo)(?![\w./-])"),
        "It still stands in the script. There is no Slurm here to answer it.",
    ),
    (
        re.compile(r"(?<![\w./-])(?:singularity|apptainer|enroot|docker) (?:exec|run|start)\b"),
        "A worker is a container itself: name its image in `image`, and leave this out.",
    ),
)
_PYTHON: Final = re.compile(r"(?:.*/)?python[0-9.]*")
_SETS_SLURM: Final = re.compile(r"\$\{?(SLURM_[A-Z_]+|PMI_[A-Z_]+|OMPI_[A-Z_]+)")


def worker_command(words: Sequence[str], found: Converted) -> list[str]:
    """Return what each worker runs of a command that would start them all."""
    command = _without_outer([*words], found)
    return _without_torchrun(command, found)


def worker_script(body: str, found: Converted, *, is_set: Collection[str] = ()) -> str:
    """Return the script that each worker runs of one that would start them all.

    What `is_set` names is in the environment of workers, whatever else is there that is not.
    What starts no workers stays as it is written, to the letter.
    """
    read = [(words, _behind_prefixes(words)) for words in commands(body)]
    starting = [(words, at) for words, at in read if _starts_workers(_texts(words[at:]))]
    edits = [edit for words, at in starting for edit in _edits(words, at, found)]
    for start, end, text in sorted(edits, reverse=True):
        body = f"{body[:start]}{text}{body[end:]}"
    if len(starting) > 1:
        found.changed("the script", "Each of its steps runs in every worker, one after the other.")
    if starting and any(_acts(words, at) for words, at in read if (words, at) not in starting):
        why = "They ran once, before workers were started: here every worker runs them."
        found.changed("the other lines of the script", why)
    _tell_of_what_stays(body, found, is_set)
    return body.strip() + "\n"


def _behind_prefixes(words: Sequence[ScriptWord]) -> int:
    """Return where a command begins behind `if`, `time`, `A=1` and the like."""
    places = (place for place, word in enumerate(words) if not _PREFIX.fullmatch(word.text))
    return next(places, len(words))


def _texts(words: Sequence[ScriptWord]) -> list[str]:
    return [word.text for word in words]


def _edits(words: Sequence[ScriptWord], at: int, found: Converted) -> list[tuple[int, int, str]]:
    """Return what replaces what, from where to where, so that one worker is started."""
    texts = _texts(words[at:])
    command = worker_command(texts, found)
    same = 0
    while same < min(len(command), len(texts)) and command[-same - 1] == texts[-same - 1]:
        same += 1
    edits: list[tuple[int, int, str]] = []
    if same < len(texts):
        kept = words[len(words) - same :]
        end = kept[0].start if kept else words[-1].end
        ahead = " ".join(command[: len(command) - same])
        edits.append((words[at].start, end, f"{ahead} " if ahead and kept else ahead))
    if (script := _script_in(command)) is not None and 0 < len(command) - script <= same:
        word = words[len(words) - len(command) + script]
        quote, inner = word.text[0], word.text[1:-1]
        edits.append(
            (word.start, word.end, f"{quote}{worker_script(inner, found).rstrip()}{quote}")
        )
    return edits


def _script_in(command: Sequence[str]) -> int | None:
    """Return which word is the script of `bash -c '…'`; None: there is no such word."""
    for place, word in enumerate(command[1:3], start=1):
        if not word.startswith("-"):
            return None
        if _TAKES_SCRIPT.fullmatch(word) and command[0].rpartition("/")[2] in _SHELLS:
            text = command[place + 1] if place + 1 < len(command) else ""
            is_quoted = len(text) > 2 and text[0] in "'\"" and text.count(text[0]) == 2  # noqa: PLR2004
            return place + 1 if is_quoted and text[-1] == text[0] else None
    return None


def _acts(words: Sequence[ScriptWord], at: int) -> bool:
    """Tell whether a command does more than prepare the shell that it runs in."""
    return at < len(words) and words[at].text not in _PREPARES


def _tell_of_what_stays(body: str, found: Converted, is_set: Collection[str]) -> None:
    for words in commands(body):
        line = " ".join(_texts(words))
        if words[0].text in ("module", "ml"):
            found.changed(
                line, "What modules load has to be in the image, or on the machine, here."
            )
        elif _ENTERS.match(line):
            found.changed(line, "It has to be in the image, or on the machine, here.")
        if any(_OURS.match(word.text) for word in words):
            found.changed(line, "The platform sets it for each worker: leave the line out.")
        for pattern, why in _STAYING:
            for name in dict.fromkeys(match[0] for match in pattern.finditer(line)):
                found.changed(name, why)
    if names := sorted({*_SETS_SLURM.findall(body)} - {*is_set}):
        found.changed(
            ", ".join(f"${name}" for name in names),
            "Nothing sets that here. Workers find RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and"
            " MASTER_PORT in their environment, as torchrun sets them.",
        )


def _starts_workers(words: Sequence[str]) -> bool:
    if not words:
        return False
    return words[0] in _OUTER or _launcher(words) != "" or _module_at(words) is not None


def _without_outer(words: list[str], found: Converted) -> list[str]:
    if words[:1] and words[0] in _OUTER:
        rest = words[_end_of_options(words, 1) :]
        if rest:
            why = "Each worker is started by the platform, once for each GPU."
            found.changed(words[0], why + _without(words[1 : len(words) - len(rest)]))
            if ":" in rest:
                found.changed(":", "Workers are all alike here: submit a job for each part.")
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
    why = "Each worker is started by the platform, with the environment it sets."
    if name in ("deepspeed", "torch.distributed.launch"):
        why += " It is told no --local_rank: LOCAL_RANK says it."
    found.changed(name, why + _without(given))
    if {"--no-python", "--no_python"} & {*given}:
        return rest
    is_module = bool({"-m", "--module"} & {*given})
    if _PYTHON.fullmatch(rest[0]):  # Determined's takes the whole command
        return rest
    return [python, *(["-m"] if is_module else []), *rest]


def _without(options: Sequence[str]) -> str:
    """Return a sentence on options that are gone with what they were for; none: nothing."""
    return f" Its options are gone with it: {' '.join(options)}." if options else ""


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
    return (
        bool(_PYTHON.fullmatch(word))
        or word in _SHELLS
        or word.strip("'\"").endswith((".py", ".sh"))
    )


def _end_of_options(words: Sequence[str], start: int) -> int:
    """Return where the options of a launcher end: `--nodes 2`, `--nodes=2` and `-n2` are such."""
    place = start
    while place < len(words) and words[place].startswith("-"):
        word = words[place]
        if word == "--":
            return place + 1
        is_next_free = place + 1 < len(words) and not words[place + 1].startswith("-")
        takes_next = word not in _FLAGS and "=" not in word and is_next_free
        takes_next = takes_next and not _is_program(words, place + 1)
        is_short_with_value = word[:2] != "--" and word[2:3].isdecimal()  # as in -n2
        if word in _TAKES_TWO:
            place += 3
        else:
            place += 2 if takes_next and not is_short_with_value else 1
    return min(place, len(words))
