"""How does a process get its secrets, so that nobody who looks at its container sees them?

They are in a file that only the service can reach on the node, mounted into the container. A shell
reads it, exports them and becomes the command. The folder above is closed to others; the file
itself is open, because the container's user is somebody else.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cluster.worker_host import LaunchRefused

MOUNTED_AT: Final = "/run/concertina"
_FILE: Final = "secrets"
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SCRIPT: Final = f'[ ! -e {MOUNTED_AT}/{_FILE} ] || . {MOUNTED_AT}/{_FILE}; exec "$@"'
PROLOGUE: Final = ("/bin/sh", "-c", _SCRIPT, "concertina")


def check(secrets: Mapping[str, str]) -> None:
    """Raises: LaunchRefused, if a shell cannot export these."""
    for name, value in secrets.items():
        if not _NAME.fullmatch(name) or "\0" in value:
            raise LaunchRefused(f"{name!r} cannot be an environment variable.")


def write(folder: Path, secrets: Mapping[str, str]) -> None:
    """Into a folder that is to be mounted at `MOUNTED_AT`.

    In place of the file of an earlier attempt, which not even this user may write to.
    """
    folder.mkdir(mode=0o755, exist_ok=True)
    folder.chmod(0o755)  # whatever the umask says
    lines = [f"export {name}={shlex.quote(value)}\n" for name, value in secrets.items()]
    (folder / _FILE).unlink(missing_ok=True)
    descriptor = os.open(folder / _FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o444)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o444)
        file.write("".join(lines))
