"""Which folder does a job's spec name as its code, if any?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from concertina.errors import BadInput


def folder_of(spec: dict[str, Any], beside: Path | None) -> Path | None:
    """Return the folder that is the job's code; None: nothing has to be sent along.

    Without `code`, it is the folder of the job file if the command names a file there, and no
    `workdir` says where else to start. `code: null` keeps it from that.

    Raises:
        BadInput: `code` is neither `{path: …}`, a repository nor a snapshot.
    """
    if "code" in spec:
        code = spec["code"]
        if code is None or (isinstance(code, dict) and ("digest" in code or set(code) == {"git"})):
            return None
        if not isinstance(code, dict) or set(code) != {"path"} or not isinstance(code["path"], str):
            raise BadInput(
                "code: write {path: FOLDER}, seen from the job file; {git: {url: …}}; or null for"
                " none."
            )
        return (beside or Path()) / code["path"]
    if beside is None or spec.get("workdir") is not None:
        return None
    command = spec.get("command")
    words = [word for word in command if isinstance(word, str)] if isinstance(command, list) else []
    return beside if any(_is_file_in(beside, word) for word in words) else None


def _is_file_in(folder: Path, word: str) -> bool:
    try:
        return bool(word) and not Path(word).is_absolute() and (folder / word).is_file()
    except (OSError, ValueError):  # what is no name of a file, such as a long text
        return False
