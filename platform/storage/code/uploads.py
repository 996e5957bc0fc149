"""How does an archive of code come in? As it is; when all of it is here, it is unpacked."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from django.db.models import QuerySet

from storage.code.archives import UnpackedArchive, unpack
from storage.code.bounds import CodeLimits
from storage.code.paths import CodePaths
from storage.errors import SnapshotInvalid, TooMuchCode
from storage.models import CodeSnapshot
from storage.uploads.closed import remove
from storage.uploads.pieces import Piece, PiecewiseUpload


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeUpload(PiecewiseUpload[CodeSnapshot]):
    """The digest is that of the tar in the archive."""

    paths: CodePaths
    limits: CodeLimits

    @property
    def rows(self) -> QuerySet[CodeSnapshot]:
        return CodeSnapshot.objects.all()

    @property
    def most_at_once(self) -> int:
        return self.limits.team_uploads

    @property
    def most_bytes(self) -> int:
        return self.limits.snapshot.most_bytes

    @property
    def most_files(self) -> int:
        return self.limits.snapshot.most_files

    def check_room(self, piece: Piece, kept: int, under_way: Collection[Path]) -> None:  # noqa: ARG002 - small
        limits = self.limits
        if kept >= limits.team_bytes:
            raise TooMuchCode(
                f"Team {self.team.name} keeps {kept >> 20} MiB of code, and may keep"
                f" {limits.team_bytes >> 20} MiB. Delete jobs that you no longer need: a snapshot"
                " goes a day after the last job that refers to it."
            )

    def take(self, part: IO[bytes], piece: Piece) -> None:
        end, most = piece.offset + len(piece.content), self.most_bytes
        if end > piece.total or piece.total > most:
            self.part.unlink()
            raise SnapshotInvalid(
                f"The archive has {piece.total} bytes, and may have {most}; or a piece goes beyond"
                " its end. Leave files out, as by a .concertinaignore."
            )
        part.write(piece.content)

    def complete(self, actor: str) -> CodeSnapshot:
        unpacked = self.paths.uploads(self.team.pk) / os.urandom(16).hex()
        try:
            contents = unpack(self.part, unpacked, self.limits.snapshot)
            self._check_digest(contents)
            archive = self.paths.archive(self.team.pk, self.digest)
            return self.put_into_place(unpacked, contents, actor, archive=archive)
        finally:
            remove(unpacked)
            self.part.unlink(missing_ok=True)

    def _check_digest(self, contents: UnpackedArchive) -> None:
        if contents.digest != self.digest:
            raise SnapshotInvalid(
                f"The archive's digest is {contents.digest}, not {self.digest}: a file has changed"
                " while it was packed, or the upload was damaged. Upload it again."
            )
