"""How does one upload come in? In pieces that may be repeated; it is there whole or not.

Whoever was cut off asks how far it is, and goes on there. Of two who upload the same at once, each
goes on where the other stopped. How far it is, the size of a file tells, its *part*.
"""

from __future__ import annotations

import fcntl
import os
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Generic, TypeVar

from django.db import transaction
from django.db.models import F, QuerySet, Sum
from django.db.models.functions import Greatest
from django.utils import timezone
from tenancy.models import Team

from storage.errors import TooManyUploads, WrongOffset
from storage.models.snapshot import Snapshot
from storage.uploads.closed import remove
from storage.uploads.contents import Contents
from storage.uploads.paths import UploadPaths

LARGEST_PIECE: Final = 4 << 20  # bytes of one request
SUFFIX: Final = ".part"
_DISK_BLOCK: Final = 4096  # bytes of a disk that each file and folder takes, however small

Row = TypeVar("Row", bound=Snapshot)


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some bytes of an upload."""

    content: bytes
    offset: int
    total: int  # bytes of the whole upload


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseUpload(ABC, Generic[Row]):
    """Something of a team on its way in, known by the digest of what is in it."""

    team: Team
    digest: str
    paths: UploadPaths

    @property
    @abstractmethod
    def rows(self) -> QuerySet[Row]:
        """Return the table of what came of such uploads."""

    @property
    @abstractmethod
    def most_at_once(self) -> int:
        """Return how many a team may have under way."""

    @property
    @abstractmethod
    def most_bytes(self) -> int:
        """Return how many bytes the files of one may have."""

    @property
    @abstractmethod
    def most_files(self) -> int:
        """Return how many files one may have."""

    @abstractmethod
    def check_room(self, piece: Piece, kept: int, under_way: Collection[Path]) -> None:
        """Refuse a piece if the team keeps too much; `kept`: bytes of what is complete."""

    @abstractmethod
    def take(self, part: IO[bytes], piece: Piece) -> None:
        """Keep the next piece, and let the part have as many bytes more.

        Raises:
            SnapshotInvalid: it cannot be; the part is gone, if it can never be.
        """

    @abstractmethod
    def complete(self, actor: str) -> Row:
        """Put what has come into place. Raises: SnapshotInvalid."""

    @property
    def snapshot(self) -> Row | None:
        """Return what came of it, if that is there whole."""
        found = self.rows.filter(team=self.team, digest=self.digest).first()
        return found if found and self.paths.folder(self.team.pk, self.digest).is_dir() else None

    @property
    def part(self) -> Path:
        return self.paths.uploads(self.team.pk) / f"{self.digest}{SUFFIX}"

    @property
    def received(self) -> int:
        """Return how many bytes of it are here."""
        try:
            return self.part.stat().st_size
        except FileNotFoundError:
            return 0

    def receive(self, piece: Piece, *, actor: str) -> Row | None:
        """Take the next piece; return what came of it once it is whole, else None.

        Raises:
            WrongOffset: another piece is the next one.
            SnapshotInvalid: it is not what it says, or too large.
            TooManyUploads: the team has as many under way as it may.
        """
        if (known := self.snapshot) is not None:
            return known
        self.paths.make(self.team.pk)
        if (known := self._begin(piece)) is not None:
            return known
        try:
            file = self.part.open("r+b")
        except FileNotFoundError:
            return self._ended()
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self._is_still(file.fileno()):
                return self._ended()
            size = file.seek(0, os.SEEK_END)
            if piece.offset != size:
                raise WrongOffset(size)
            self.take(file, piece)
            file.flush()
            return self.complete(actor) if size + len(piece.content) == piece.total else None

    def put_into_place(
        self, made: Path, contents: Contents, actor: str, *, archive: Path | None = None
    ) -> Row:
        """Give a folder its final name, and the row that tells of it.

        The part goes, or becomes the archive.
        """
        kept = contents.bytes + _DISK_BLOCK * (contents.files + contents.folders)
        kept += self.received if archive is not None else 0
        folder = self.paths.folder(self.team.pk, self.digest)
        with self.paths.locked(self.team.pk), transaction.atomic():
            now = timezone.now()
            row, _ = self.rows.update_or_create(
                team=self.team,
                digest=self.digest,
                defaults={"used_at": now},
                create_defaults={
                    "files": contents.files,
                    "bytes": contents.bytes,
                    "kept_bytes": kept,
                    "created_by": actor,
                    "used_at": now,
                },
            )
            remove(folder)  # of a row that was lost, if it is there
            if archive is not None:
                self.part.rename(archive)
            made.chmod(0o700)  # only who may write to a folder can give it another parent
            made.rename(folder)
            folder.chmod(0o555)
        self.part.unlink(missing_ok=True)
        return row

    def _begin(self, piece: Piece) -> Row | None:
        """Make the part for a first piece, unless somebody else completed the upload meanwhile."""
        with self.paths.locked(self.team.pk):
            if self.part.exists():
                return None
            if (known := self.snapshot) is not None:
                return known
            if piece.offset != 0:
                raise WrongOffset(0)
            parts = self._parts()
            if len(parts) >= self.most_at_once:
                raise TooManyUploads(
                    f"Team {self.team.name} has {len(parts)} uploads of this kind under way, and"
                    f" may have {self.most_at_once}. Finish one; what nobody goes on with goes"
                    " after a day."
                )
            self.require_room(piece)
            self.part.touch(mode=0o600)
        return None

    def require_room(self, piece: Piece) -> None:
        of_each = Greatest(F("kept_bytes"), F("bytes"))
        kept = self.rows.filter(team=self.team).aggregate(sum=Sum(of_each))["sum"] or 0
        self.check_room(piece, kept, self._parts())

    def _parts(self) -> list[Path]:
        return list(self.paths.uploads(self.team.pk).glob(f"*{SUFFIX}"))

    def _ended(self) -> Row:
        """Return what came of an upload that somebody else completed; one refused begins anew."""
        if (known := self.snapshot) is not None:
            return known
        raise WrongOffset(self.received)

    def _is_still(self, descriptor: int) -> bool:
        """True unless somebody completed it meanwhile, or it was refused."""
        try:
            return self.part.stat().st_ino == os.fstat(descriptor).st_ino
        except FileNotFoundError:
            return False
