"""Which folder or file of the cache holds what?

Each source has a folder, which nobody can list: a worker that is shown a version finds others no
more easily than it guesses their digests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_ASIDE: Final = ".discarded"
_CLOSED: Final = 0o711  # jobs pass through, and see what they are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePaths:
    """Where one installation keeps what it fetched."""

    state_dir: Path

    @property
    def root(self) -> Path:
        return self.state_dir / "data"

    @property
    def aside(self) -> Path:
        """Return where folders wait for being removed."""
        return self.root / _ASIDE

    def folder(self, source_id: int, version: str) -> Path:
        """Return the folder in which jobs find this version."""
        return self.of_source(source_id) / version

    def part(self, source_id: int, version: str) -> Path:
        """Return the folder for what is under way."""
        return self.of_source(source_id) / f"{version}.part"

    def listing(self, source_id: int, version: str) -> Path:
        """Return the file that tells what is in a version; "": that of the newest look."""
        return self.of_source(source_id) / f"{version or 'newest'}.list"

    def status(self, source_id: int, version: str) -> Path:
        return self.of_source(source_id) / f"{version or 'newest'}.status"

    def make(self, source_id: int) -> None:
        """Make the folder of a source."""
        for folder in (self.root, self.of_source(source_id)):
            folder.mkdir(mode=_CLOSED, parents=True, exist_ok=True)

    def of_source(self, source_id: int) -> Path:
        return self.root / str(source_id)

    def files_of(self, source_id: int, version: str) -> tuple[Path, ...]:
        """Return all that there may be of a version beside its folders."""
        listing, status = self.listing(source_id, version), self.status(source_id, version)
        return listing, listing.with_name(f"{listing.name}.lock"), status

    def sources(self) -> Iterator[int]:
        """Yield the sources that have a folder, deleted ones included."""
        if self.root.is_dir():
            names = (path.name for path in self.root.iterdir())
            yield from sorted(int(name) for name in names if name.isascii() and name.isdigit())
