"""What is mounted below a folder, so that it can be removed? Standard library only."""

from __future__ import annotations

import subprocess
from pathlib import Path

TABLE = Path("/proc/self/mounts")
ESCAPED = {"\\040": " ", "\\011": "\t", "\\012": "\n", "\\134": "\\"}


def below(folder: Path) -> list[Path]:
    """The folder itself if something is mounted there, and what is below; the deepest first."""
    if not TABLE.exists():
        return []
    points = [Path(_unescaped(line.split(" ")[1])) for line in TABLE.read_text().splitlines()]
    found = [point for point in points if point.is_relative_to(folder)]
    return sorted(found, key=lambda point: len(point.parts), reverse=True)


def unmount_below(folder: Path) -> None:
    """Let go of everything that is mounted there, however busy it is."""
    for point in below(folder):
        subprocess.run(("umount", "--lazy", str(point)), capture_output=True, check=False)


def _unescaped(word: str) -> str:
    for escape, character in ESCAPED.items():
        word = word.replace(escape, character)
    return word
