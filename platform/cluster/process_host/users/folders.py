"""Whose are the folders of the process host? The service's, but for those given to a team's user.

Modes are set, not left to the umask. The service reads nothing through a path inside a folder that
it gave away, for there may lie links to whatever its user may not read.
"""

from __future__ import annotations

import os
from pathlib import Path


def make_private(folder: Path) -> None:
    """Make it, and what is missing above, for the service's eyes only."""
    for missing in [path for path in (folder, *folder.parents) if not path.exists()][::-1]:
        missing.mkdir(mode=0o700, exist_ok=True)


def close(folder: Path) -> None:
    """Make it, if need be; nobody but the service may enter it, whoever made it."""
    make_private(folder)
    if folder.stat().st_mode & 0o077:
        folder.chmod(0o700)


def give(folder: Path, user: int | None) -> None:
    """Make the folder, and hand it and all in it to the user; None: it is the service's own.

    Only a folder that is not the user's yet is gone through: until then nobody else can enter it,
    to put links to the files of others there.
    """
    make_private(folder)
    if user is None or folder.stat().st_uid == user:
        return
    folder.chmod(0o700)
    for _, _, _, descriptor in os.fwalk(folder, follow_symlinks=False):
        for name in os.listdir(descriptor):  # noqa: PTH208 - by its descriptor
            os.chown(name, user, user, dir_fd=descriptor, follow_symlinks=False)
    os.chown(folder, user, user)  # last: until then it is gone through again
