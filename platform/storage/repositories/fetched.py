"""How does what a fetcher left become a snapshot of a team? As what was uploaded does."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone
from tenancy.models import Team

from storage.code.bounds import CodeLimits
from storage.code.paths import CodePaths
from storage.code.uploads import CodeUpload
from storage.repositories.fetcher.orders import FetchedCommit
from storage.repositories.workplace import Workplace
from storage.uploads.contents import Contents
from storage.uploads.pieces import Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedRepository:
    """What a repository was at one moment."""

    digest: str  # of the snapshot
    commit: str
    branch: str  # or tag; "": a commit was named


@dataclass(frozen=True, slots=True, kw_only=True)
class _ArrivedCode(CodeUpload):
    """Code whose archive came whole."""

    workplace: Workplace

    @property
    def part(self) -> Path:
        return self.workplace.archive


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrivingSnapshot:
    """Code of a team that a fetcher brings."""

    team: Team
    workplace: Workplace
    paths: CodePaths
    limits: CodeLimits

    def check_room(self) -> None:
        """Raises: TooMuchCode, if the team may keep no more."""
        self._upload("").require_room(Piece(content=b"", offset=0, total=0))

    def put_into_place(self, *, actor: str) -> FetchedRepository:
        """Call it once its fetcher is done; what the team has already stays as it is.

        Raises:
            OSError: the disk refuses it, or nothing is there.
            ValueError: what is there makes no sense.
        """
        about = FetchedCommit.read(self.workplace.about)
        upload = self._upload(about.digest)
        if (known := upload.snapshot) is not None:
            upload.rows.filter(pk=known.pk).update(used_at=timezone.now())
        else:
            contents = Contents(files=about.files, folders=about.folders, bytes=about.bytes)
            archive = self.paths.archive(self.team.pk, about.digest)
            upload.put_into_place(self.workplace.unpacked, contents, actor, archive=archive)
        return FetchedRepository(digest=about.digest, commit=about.commit, branch=about.branch)

    def _upload(self, digest: str) -> _ArrivedCode:
        return _ArrivedCode(
            team=self.team,
            digest=digest,
            paths=self.paths,
            limits=self.limits,
            workplace=self.workplace,
        )
