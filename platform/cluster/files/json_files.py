"""How is a small file written whole or not at all, so that a crash at any moment leaves none torn?

Standard library only, and only quick imports: every supervisor of the process host loads this.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any] | None:
    """The file's content; None while there is no such file."""
    try:
        content: dict[str, Any] = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    return content


def replace(
    path: Path, content: dict[str, Any], *, is_durable: bool = True, mode: int = 0o600
) -> None:
    """Write the file whole; a durable one afterwards survives a crash of the machine."""
    temporary = _written(path, content, is_durable=is_durable, mode=mode)
    temporary.replace(path)
    if is_durable:
        _flush_folder(path.parent)


def create_once(path: Path, content: dict[str, Any]) -> bool:
    """Write as `replace` does, but the first one wins: False when the file was there already."""
    temporary = _written(path, content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    finally:
        with contextlib.suppress(FileNotFoundError):
            temporary.unlink()
    _flush_folder(path.parent)
    return True


def _written(
    path: Path, content: dict[str, Any], *, is_durable: bool = True, mode: int = 0o600
) -> Path:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            os.fchmod(descriptor, mode)  # whatever the umask says
            file.write(json.dumps(content).encode())
            file.flush()
            if is_durable:
                os.fsync(file.fileno())
    except OSError:  # a full disk, which must not fill with these
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _flush_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
