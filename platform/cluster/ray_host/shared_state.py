"""Is the state folder of a node the service's own? A word that the service left there tells.

Checkpoints, and what coordinators know, have to be found wherever a process of the job runs next.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from cluster.files import json_files
from cluster.files.private_folders import make_private

_FILE: Final = Path("ray", "word.json")


def word_of(state_dir: Path) -> str:
    """The service's word for this folder; made up once."""
    file = state_dir / _FILE
    make_private(file.parent)
    json_files.create_once(file, {"word": secrets.token_hex(8)})
    return left_in(state_dir)


def left_in(state_dir: Path) -> str:
    """The word that the service left in this folder; empty: none.

    Raises:
        OSError, ValueError: it cannot be read.
    """
    document = json_files.read(state_dir / _FILE)
    word: str = document["word"] if document else ""
    return word


def why_not(state_dir: Path, word: str) -> str:
    """Say why this machine's folder is not where the service left its word; empty: it is."""
    rule = f"CONCERTINA_STATE has to be one folder for the service and all nodes, and {state_dir}"
    try:
        document = json_files.read(state_dir / _FILE)
    except (OSError, ValueError) as problem:
        return f"{rule} cannot be read here: {problem}. Mount it for the user of Ray's processes"
    if document is None:
        return f"{rule} is not the service's here: mount that folder under this path"
    if document.get("word") != word:
        return f"{rule} is another one here: mount the service's under this path"
    return ""
