"""What is a source that is a folder of the nodes? NFS, Lustre or a disk of their own.

Links on the way are followed, when the source is added and again whenever a job starts with it.
They may lead anywhere below the folders that the installation allows, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.data.cache.room import NOWHERE, Key
from storage.data.rules import DataRules
from storage.errors import SourceInvalid

_LONGEST: Final = 1000  # characters


class FolderKind:
    """Its place is `path`, as nodes see it."""

    is_fetched = False
    may_be_written = True

    def checked(self, place: Mapping[str, str], rules: DataRules) -> dict[str, str]:
        path = place.get("path", "")
        plain = os.path.normpath(path)
        if not path.startswith("/") or len(path) > _LONGEST or not path.isprintable():
            raise SourceInvalid(f"path {path[:80]!r} is not a folder. Begin it with /.")
        if path.rstrip("/") != plain.rstrip("/"):
            raise SourceInvalid(f"path {path!r} is not plain. Write it as {plain}.")
        self.folder({"path": plain}, rules, NOWHERE)
        return {"path": plain}

    def folder(self, place: Mapping[str, str], rules: DataRules, _: Key) -> Path:
        folder = Path(place["path"])
        if not any(folder.is_relative_to(allowed) for allowed in rules.folders):
            raise SourceInvalid(f"{folder} is not below a folder of data. {_allowed(rules)}")
        real = folder
        if rules.are_nodes_here or _sees(folder, rules):
            real = _followed(folder, rules)
        own = rules.state_dir.resolve()
        if real.is_relative_to(own) or own.is_relative_to(real):
            raise SourceInvalid(f"{folder} shows the service's own files, {own}. Use another.")
        return real

    def overlaps(self, place: Mapping[str, str], other: Mapping[str, str]) -> bool:
        """True if one of both lies in the other, as they are named or where links lead."""
        names = [Path(place["path"]), Path(other["path"])]
        return any(
            one.is_relative_to(another) or another.is_relative_to(one)
            for one, another in (names, [name.resolve() for name in names])
        )

    def version(self, place: Mapping[str, str]) -> str:  # noqa: ARG002 - the port's
        return ""

    def stays(self, kept: Mapping[str, str], place: Mapping[str, str]) -> bool:
        return kept == place


def _sees(folder: Path, rules: DataRules) -> bool:
    """True if the service has the allowed folder that this one is below."""
    return any(folder.is_relative_to(one) and os.path.isdir(one) for one in rules.folders)  # noqa: PTH112 - Path.is_dir raises where it may not look


def _followed(folder: Path, rules: DataRules) -> Path:
    """Return the folder without links on the way to it."""
    try:
        real = folder.resolve(strict=True)
        is_folder = real.is_dir()
    except (OSError, RuntimeError) as problem:  # RuntimeError: a circle of links
        raise SourceInvalid(f"{folder} cannot be found on this machine: {problem}.") from problem
    if not is_folder:
        raise SourceInvalid(f"{folder} is not a folder.")
    if not any(real.is_relative_to(allowed.resolve()) for allowed in rules.folders):
        raise SourceInvalid(f"{folder} leads to {real}, out of the folders of data.")
    return real


def _allowed(rules: DataRules) -> str:
    if not rules.folders:
        return "There are none: set CONCERTINA_DATA_FOLDERS."
    return f"Allowed are those in CONCERTINA_DATA_FOLDERS: {', '.join(map(str, rules.folders))}."
