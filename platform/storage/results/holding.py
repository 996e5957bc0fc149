"""How does a checkpoint stay, whatever becomes of its job? Its files get a second name.

A name costs nothing: the bytes are there once, and go with the last name. A folder of such names
appears whole or not at all. It has to be on the file system of the original.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from storage.errors import ResultUnknown
from storage.results import opening
from storage.results.folders import Folder

_HALF: Final = ".half"


def hold(source: Folder, names: Mapping[str, str], folder: Path) -> None:
    """Make a folder in which some files of a folder of results are, by other names.

    Only the control loop does, and one at a time: nobody but the service may write above `folder`.

    Args:
        source: where the files are.
        names: what each is to be called, by its name there.
        folder: is there afterwards, and stays as it is if it was there before.

    Raises:
        ResultUnknown: one of them is not there.
        OSError: the disk refuses it.
    """
    if folder.exists():
        return
    half = folder.with_name(f"{folder.name}{_HALF}")
    shutil.rmtree(half, ignore_errors=True)
    half.mkdir(parents=True)
    try:
        with opening.folder(source) as found:
            theirs = os.fstat(found)
            for name, new in names.items():
                _link(found, name, half / new, theirs.st_uid)
        half.chmod(stat.S_IMODE(theirs.st_mode))  # whoever may look in there may look in here
        if os.geteuid() == 0:
            os.chown(half, theirs.st_uid, theirs.st_gid)
        half.rename(folder)
    except BaseException:
        shutil.rmtree(half, ignore_errors=True)
        raise


def _link(folder: int, name: str, target: Path, owner: int) -> None:
    """Look at it only when it cannot be replaced any more."""
    try:
        os.link(name, target, src_dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError as problem:
        raise ResultUnknown from problem
    linked = target.lstat()
    if not stat.S_ISREG(linked.st_mode) or linked.st_uid != owner:
        raise ResultUnknown
