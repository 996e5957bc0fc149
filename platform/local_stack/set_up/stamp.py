"""Has this step been done for exactly these inputs? A stamp beside its result tells."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A file that holds the digest of the inputs its step last succeeded with."""

    file: Path
    digest: str

    @property
    def is_valid(self) -> bool:
        try:
            return self.file.read_text() == self.digest
        except FileNotFoundError:
            return False

    def set(self) -> None:
        self.file.write_text(self.digest)


def digest_of(files: Iterable[Path], *words: str) -> str:
    """One digest of the words, and of the paths and contents of the files."""
    digest = hashlib.sha256("\0".join(words).encode())
    for file in sorted(files):
        digest.update(f"\0{file}\0".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
