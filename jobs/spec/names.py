"""Which names and texts may a job spec contain? Errors read `what is wrong | what to do`."""

from __future__ import annotations

import posixpath
import re
from pathlib import PurePosixPath
from typing import Final

from concertina_worker.protocol import FOR_JOBS_TO_SET

JOB_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
LABEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,79}")
_OURS: Final = "CONCERTINA_"
_OF_THE_KERNEL: Final = frozenset({"proc", "sys", "dev"})
MOST_SECRETS: Final = 20  # of one job
MOST_ENTRIES: Final = 200  # guessed: far above real specs, far below what would hurt


def check_job_name(name: str) -> str:
    if not JOB_NAME.fullmatch(name):
        raise ValueError(
            "is not a job name | Use 1 to 80 letters, digits, dots, hyphens and underscores,"
            " beginning with a letter or digit."
        )
    return name


def check_text(text: str) -> str:
    if "\0" in text:
        raise ValueError("contains a null character | Remove it.")
    return text


def check_command(command: list[str]) -> list[str]:
    if command and not command[0].strip():
        raise ValueError("does not begin with a program | Begin with one, such as python.")
    return command


def check_workdir(workdir: str) -> str:
    """Accept a folder written in full, but none of the kernel's: runc once led outside there."""
    plain = _plain_path(workdir)
    if not workdir.startswith("/"):
        raise ValueError("is not an absolute path | Begin it with /, such as /workspace.")
    if workdir not in {plain, f"{plain}/"}:
        raise ValueError(f"is not a plain path | Write it without . .. and //: {plain}")
    return check_no_kernel_folder(workdir)


def check_no_kernel_folder(workdir: str) -> str:
    """Refuse the kernel's folders, however they are written."""
    top = PurePosixPath(_plain_path(workdir)).parts[1:2]
    if top and top[0] in _OF_THE_KERNEL:
        raise ValueError(
            f"lies in /{top[0]}, where the kernel's own files are"
            " | Use an ordinary folder, such as /workspace."
        )
    return workdir


def _plain_path(workdir: str) -> str:
    return posixpath.normpath("/" + workdir.lstrip("/"))


def check_environment(env: dict[str, str]) -> dict[str, str]:
    _check_size(env)
    for name in env:
        if not VARIABLE.fullmatch(name):
            raise ValueError(
                f"has {name!r}, which is not a variable name"
                " | Use letters, digits and underscores, not beginning with a digit."
            )
        if name.startswith(_OURS) and name not in FOR_JOBS_TO_SET:
            raise ValueError(f"sets {name}, which the platform sets itself | Remove it.")
    return env


def check_pool_names(names: list[str]) -> list[str]:
    """Refuse a list that names a pool twice."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"names {twice} more than once | Name each pool once.")
    return names


def check_secret_names(names: list[str]) -> list[str]:
    """Refuse repeated names. The team's secrets are checked later."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"names {name} twice | Name it once.")
    return names


def check_labels(labels: dict[str, str]) -> dict[str, str]:
    _check_size(labels)
    for name in labels:
        if not LABEL.fullmatch(name):
            raise ValueError(
                f"has {name!r}, which is not a label name"
                " | Use up to 80 letters, digits, dots, slashes, hyphens and underscores."
            )
    return labels


def _check_size(entries: dict[str, str]) -> None:
    if len(entries) > MOST_ENTRIES:
        raise ValueError(f"has {len(entries)} entries | Use at most {MOST_ENTRIES}.")
