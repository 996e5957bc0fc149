"""Can all of these be files in one folder? Others call what they send, or store, as they like."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from typing import Final

_LONGEST_NAME: Final = 1000
_LONGEST_PART: Final = 255  # bytes, of file systems
_DEEPEST: Final = 50


class FileNameInvalid(Exception):
    """One cannot be; the message begins with it, and says what to do."""


def check_names(names: Collection[str], *, most_folders: int) -> int:
    """Return how many folders they make.

    Raises:
        FileNameInvalid: one cannot be a file, or not beside the others.
    """
    files, folders = frozenset(names), set[str]()
    for name in names:
        _check(name)
        for folder in _folders_of(name):
            if folder in files:
                raise FileNameInvalid(
                    f"{folder!r} would be a file and, for {name!r}, a folder. Rename one."
                )
            if folder in folders:
                break
            folders.add(folder)
        if len(folders) > most_folders:
            raise FileNameInvalid(
                f"{name[:80]!r} and those before it lie in more than {most_folders} folders. Use"
                " fewer, or pack files into larger ones, such as tar files."
            )
    return len(folders)


def _check(name: str) -> None:
    parts = name.split("/")
    if any(part in {"", ".", ".."} for part in parts) or "\0" in name:
        raise FileNameInvalid(f"{name[:80]!r} cannot be a file. Rename it.")
    too_long = any(len(part.encode(errors="replace")) > _LONGEST_PART for part in parts)
    if too_long or len(name) > _LONGEST_NAME or len(parts) > _DEEPEST:
        raise FileNameInvalid(f"{name[:80]!r} has too long or too deep a name.")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise FileNameInvalid(f"{name[:80]!r} has a name that is no text. Rename it.")


def _folders_of(name: str) -> Iterator[str]:
    while name := posixpath.dirname(name):
        yield name
