"""How does a folder of data come in? First its manifest, then the bytes of its files, in blocks.

Each block is checked when it comes, and written where it belongs. The part holds the manifest; then
only its size counts on. So nothing is there twice, and when the last block has come all is done.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Final

from django.db.models import QuerySet

from storage.data.uploaded.bounds import DataLimits
from storage.data.uploaded.manifests import BLOCK, LONGEST, MOST_FILES, Manifest
from storage.data.uploaded.paths import UploadedPaths
from storage.errors import ManifestInvalid, SnapshotInvalid, TooMuchData, WrongOffset
from storage.models import DataSnapshot
from storage.uploads.closed import FILE, PROGRAM, close, remove
from storage.uploads.contents import Contents
from storage.uploads.pieces import Piece, PiecewiseUpload

_HEAD: Final = re.compile(rb"concertina data 1 ([0-9]{8})\n")
HEAD_BYTES: Final = len(b"concertina data 1 12345678\n")  # it tells how long the manifest is
_READ_AT_ONCE: Final = 2  # manifests that are remembered: each is some megabytes


@dataclass(frozen=True, slots=True, kw_only=True)
class DataUpload(PiecewiseUpload[DataSnapshot]):
    """The digest is that of the manifest."""

    paths: UploadedPaths
    limits: DataLimits

    @property
    def rows(self) -> QuerySet[DataSnapshot]:
        return DataSnapshot.objects.all()

    @property
    def most_at_once(self) -> int:
        return self.limits.team_uploads

    @property
    def most_bytes(self) -> int:
        return self.limits.most_bytes

    @property
    def most_files(self) -> int:
        return MOST_FILES

    def check_room(self, piece: Piece, kept: int, under_way: Collection[Path]) -> None:
        """Ask again with every piece: several may be under way, and each had room alone."""
        most = self.limits.team_bytes
        arrived = sum(part.stat().st_size for part in under_way if part != self.part)
        if kept + arrived + piece.total > most:
            raise TooMuchData(
                f"Team {self.team.name} keeps {(kept + arrived) >> 20} MiB of uploaded data, and"
                f" may keep {most >> 20}; this has {piece.total >> 20}. Delete what no job needs:"
                " `concertina data rm`."
            )

    def take(self, part: IO[bytes], piece: Piece) -> None:
        head = self._head_bytes(part, piece)
        end = piece.offset + len(piece.content)
        if piece.total < max(head, end) or piece.offset < head < end:
            if not piece.offset:
                self.part.unlink()
            raise SnapshotInvalid("A piece goes beyond the end, or beyond that of the manifest.")
        if piece.offset < head:
            part.write(piece.content)
            if end == head:
                part.flush()
                self._begin_files(head, piece.total)
            return
        manifest = self._manifest(head)
        self._check_total(manifest, piece.total - head)
        if piece.offset == piece.total:  # all of it is here, and whoever had it was ended
            return
        self.require_room(piece)
        self._write_block(manifest, piece, head)
        part.truncate(end)  # no byte of it is there; it says how far this is
        os.utime(self._folder)  # whoever removes what is given up looks at this

    def complete(self, actor: str) -> DataSnapshot:
        with self.part.open("rb") as part:
            manifest = self._manifest(self._told_head_bytes(part.read(HEAD_BYTES)))
        self._check_files()
        for name, is_program in manifest.empty_files():
            _open(self._folder / name, mode=PROGRAM if is_program else FILE, start=0).close()
        close(self._folder)
        contents = Contents(
            files=len(manifest.names), folders=manifest.folders, bytes=manifest.total
        )
        return self.put_into_place(self._folder, contents, actor)

    @property
    def _folder(self) -> Path:
        return self.paths.uploads(self.team.pk) / self.digest

    def _manifest(self, head: int) -> Manifest:
        return read_manifest(self.part, head, self.digest, self.most_bytes)

    def _head_bytes(self, part: IO[bytes], piece: Piece) -> int:
        """Return how many bytes the manifest has, with what stands before it."""
        try:
            if not piece.offset:
                return self._told_head_bytes(piece.content[:HEAD_BYTES])
            part.seek(0)
            return self._told_head_bytes(part.read(HEAD_BYTES))
        except ManifestInvalid:
            self.part.unlink()
            raise
        finally:
            part.seek(0, os.SEEK_END)

    def _told_head_bytes(self, first: bytes) -> int:
        found = _HEAD.fullmatch(first)
        if found is None or int(found[1]) > LONGEST:
            raise ManifestInvalid(
                f"It does not begin as a folder of data, or its manifest has more than {LONGEST}"
                " bytes. Pack files into larger ones, such as tar files."
            )
        return HEAD_BYTES + int(found[1])

    def _begin_files(self, head: int, total: int) -> None:
        """Read the manifest once it is here; what is wrong now will never be right."""
        try:
            self._check_total(self._manifest(head), total - head)
        except ManifestInvalid:
            self.part.unlink()
            raise
        remove(self._folder)  # of an earlier one that was given up
        self._folder.mkdir(mode=0o700)

    def _check_total(self, manifest: Manifest, announced: int) -> None:
        if manifest.total != announced:
            raise ManifestInvalid(
                f"Its files have {manifest.total} bytes, and {announced} are announced."
            )

    def _check_files(self) -> None:
        """Begin anew if somebody removed what was here."""
        if not self._folder.is_dir():
            self.part.unlink()
            raise WrongOffset(0)

    def _write_block(self, manifest: Manifest, piece: Piece, head: int) -> None:
        block, beyond = divmod(piece.offset - head, BLOCK)
        if beyond or len(piece.content) != manifest.length_of(block):
            raise SnapshotInvalid(
                f"A piece is no block of {BLOCK} bytes. Send one block at a time."
            )
        if hashlib.sha256(piece.content).hexdigest() != manifest.blocks[block]:
            raise SnapshotInvalid(
                f"Block {block} is not what the manifest says: a file has changed while it was"
                " uploaded, or it was damaged on the way. Upload it again."
            )
        self._check_files()
        at = 0
        try:
            for span in manifest.spans_of(block):
                mode = PROGRAM if span.is_program else FILE
                with _open(self._folder / span.name, mode=0o600, start=span.start) as file:
                    file.write(piece.content[at : at + span.length])
                    if span.is_last:
                        os.fchmod(file.fileno(), mode)
                at += span.length
        except OSError as problem:
            if problem.errno in {errno.ENOSPC, errno.EDQUOT}:
                raise TooMuchData("The service's disk is full. Ask an admin for room.") from problem
            raise


def _open(path: Path, *, mode: int, start: int) -> IO[bytes]:
    """Open a file that nobody else writes to, at a byte, and make it if it is not there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if path.exists():
        path.chmod(0o600)  # its last block comes a second time
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.fdopen(os.open(path, flags, mode), "wb")
    file.seek(start)
    return file


@lru_cache(maxsize=_READ_AT_ONCE)
def read_manifest(part: Path, head: int, digest: str, most_bytes: int) -> Manifest:
    """Raises: ManifestInvalid."""
    with part.open("rb") as file:
        text = file.read(head)[HEAD_BYTES:]
    found = hashlib.sha256(text).hexdigest()
    if found != digest:
        raise ManifestInvalid(f"The manifest's digest is {found}, not {digest}. Upload it again.")
    return Manifest.of(text, most_bytes=most_bytes)
