"""How does an archive of code come in? In pieces that may be repeated; it is there whole or not.

Whoever was cut off asks how far it is, and goes on there. Of two who upload the same at once, each
goes on where the other stopped.
"""

from __future__ import annotations

import fcntl
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from django.db import transaction
from django.db.models import F, Sum
from django.db.models.functions import Greatest
from django.utils import timezone
from tenancy.models import Team

from storage.code.archives import Contents, remove, unpack
from storage.code.bounds import CodeLimits
from storage.code.places import CodePlaces
from storage.errors import SnapshotInvalid, TooManyUploads, TooMuchCode, WrongOffset
from storage.models import CodeSnapshot

GIVEN_UP_SECONDS: Final = 24 * 3600.0  # without another piece
_BLOCK: Final = 4096  # bytes of a disk that each file and folder takes, however small
_SUFFIX: Final = ".part"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some bytes of an archive."""

    content: bytes
    offset: int
    total: int  # bytes of the whole archive


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One archive of a team on its way in, known by the digest of what is in it."""

    team: Team
    digest: str
    places: CodePlaces
    limits: CodeLimits

    @property
    def snapshot(self) -> CodeSnapshot | None:
        """Return what came of it, if that is there whole."""
        found = CodeSnapshot.objects.filter(team=self.team, digest=self.digest).first()
        return found if found and self.places.folder(self.team.pk, self.digest).is_dir() else None

    @property
    def received(self) -> int:
        """Return how many bytes of it are here."""
        try:
            return self._part.stat().st_size
        except FileNotFoundError:
            return 0

    def receive(self, piece: Piece, *, actor: str) -> CodeSnapshot | None:
        """Take the next piece; return the snapshot once it is whole, else None.

        Raises:
            WrongOffset: another piece is the next one.
            SnapshotInvalid: it is no archive of this digest, or too large; nothing is left of it.
            TooManyUploads: the team has as many under way as it may.
            TooMuchCode: the team keeps as much as it may.
        """
        if (known := self.snapshot) is not None:
            return known
        self.places.make(self.team.pk)
        if (known := self._begin(piece)) is not None:
            return known
        try:
            file = self._part.open("r+b")
        except FileNotFoundError:
            return self._ended()
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if not self._is_still(file.fileno()):
                return self._ended()
            size = file.seek(0, os.SEEK_END)
            if piece.offset != size:
                raise WrongOffset(size)
            end = size + len(piece.content)
            self._check_length(end, piece.total)
            file.write(piece.content)
            file.flush()
            return self._complete(actor) if end == piece.total else None

    def _begin(self, piece: Piece) -> CodeSnapshot | None:
        """Make the part for a first piece, unless somebody else completed the upload meanwhile."""
        with self.places.locked(self.team.pk):
            if self._part.exists():
                return None
            if (known := self.snapshot) is not None:
                return known
            if piece.offset != 0:
                raise WrongOffset(0)
            self._check_room()
            self._part.touch(mode=0o600)
        return None

    def _ended(self) -> CodeSnapshot:
        """Return what came of an upload that somebody else completed; one refused begins anew."""
        if (known := self.snapshot) is not None:
            return known
        raise WrongOffset(self.received)

    def _is_still(self, descriptor: int) -> bool:
        """True unless somebody completed it meanwhile, or it was refused."""
        try:
            return self._part.stat().st_ino == os.fstat(descriptor).st_ino
        except FileNotFoundError:
            return False

    def _check_length(self, end: int, total: int) -> None:
        most = self.limits.snapshot.most_bytes
        if end > total or total > most:
            self._part.unlink()
            raise SnapshotInvalid(
                f"The archive has {total} bytes, and may have {most}; or a piece goes beyond its"
                " end. Leave files out, as by a .concertinaignore."
            )

    def _check_room(self) -> None:
        team, limits = self.team, self.limits
        parts = list(self.places.uploads(team.pk).glob(f"*{_SUFFIX}"))
        if len(parts) >= limits.team_uploads:
            raise TooManyUploads(
                f"Team {team.name} has {len(parts)} uploads of code under way, and may have"
                f" {limits.team_uploads}. Finish one; what nobody goes on with goes after a day."
            )
        of_each = Greatest(F("kept_bytes"), F("bytes"))
        kept = CodeSnapshot.objects.filter(team=team).aggregate(sum=Sum(of_each))["sum"] or 0
        if kept >= limits.team_bytes:
            raise TooMuchCode(
                f"Team {team.name} keeps {kept >> 20} MiB of code, and may keep"
                f" {limits.team_bytes >> 20} MiB. Delete jobs that you no longer need: a snapshot"
                " goes a day after the last job that refers to it."
            )

    def _complete(self, actor: str) -> CodeSnapshot:
        unpacked = self.places.uploads(self.team.pk) / os.urandom(16).hex()
        try:
            contents = unpack(self._part, unpacked, self.limits.snapshot)
            self._check_digest(contents)
            return self._put_into_place(unpacked, contents, actor)
        finally:
            remove(unpacked)
            self._part.unlink(missing_ok=True)

    def _check_digest(self, contents: Contents) -> None:
        if contents.digest != self.digest:
            raise SnapshotInvalid(
                f"The archive's digest is {contents.digest}, not {self.digest}: a file has changed"
                " while it was packed, or the upload was damaged. Upload it again."
            )

    def _put_into_place(self, unpacked: Path, contents: Contents, actor: str) -> CodeSnapshot:
        team, places = self.team, self.places
        folder = places.folder(team.pk, self.digest)
        with places.locked(team.pk), transaction.atomic():
            now = timezone.now()
            entries = contents.files + contents.folders
            snapshot, _ = CodeSnapshot.objects.update_or_create(
                team=team,
                digest=self.digest,
                defaults={"used_at": now},
                create_defaults={
                    "files": contents.files,
                    "bytes": contents.bytes,
                    "kept_bytes": contents.bytes + _BLOCK * entries + self.received,
                    "created_by": actor,
                    "used_at": now,
                },
            )
            remove(folder)  # of a row that was lost, if it is there
            self._part.rename(places.archive(team.pk, self.digest))
            unpacked.chmod(0o700)  # only who may write to a folder can give it another parent
            unpacked.rename(folder)
            folder.chmod(0o555)
        return snapshot

    @property
    def _part(self) -> Path:
        return self.places.uploads(self.team.pk) / f"{self.digest}{_SUFFIX}"


def remove_given_up(team_id: int, places: CodePlaces) -> None:
    """Remove uploads that nobody goes on with, and what an ended process left half unpacked."""
    before = time.time() - GIVEN_UP_SECONDS
    for path in places.uploads(team_id).iterdir():
        if path.stat().st_mtime < before:
            if path.is_dir():
                remove(path)
            elif path.suffix == _SUFFIX:
                path.unlink(missing_ok=True)
