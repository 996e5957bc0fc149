"""What is a source that was uploaded? A folder here, in the version that each job has."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.db.models.functions import Now

from storage.data.cache.room import Key
from storage.data.rules import DataRules
from storage.data.uploaded.paths import UploadedPaths
from storage.errors import SourceInvalid
from storage.models import DataSnapshot

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class UploadKind:
    """Its place is `digest`, and `owner`: the number of the team that uploaded it."""

    is_fetched = False
    may_be_written = False

    def checked(self, place: Mapping[str, str], rules: DataRules) -> dict[str, str]:  # noqa: ARG002 - the port's
        digest, owner = place.get("digest", ""), place.get("owner", "")
        if not _DIGEST.fullmatch(digest):
            raise SourceInvalid(f"{digest[:80]!r} is not a digest: 64 hexadecimal digits.")
        uploaded = DataSnapshot.objects.filter(team=int(owner), digest=digest)
        if not uploaded.update(used_at=Now()):  # so that it is not removed before it is a source
            raise SourceInvalid(
                f"The first team has uploaded nothing with the digest {digest[:12]}…. Upload it"
                " first: `concertina data put` does."
            )
        return {"digest": digest, "owner": owner}

    def folder(self, place: Mapping[str, str], rules: DataRules, key: Key) -> Path:
        paths = UploadedPaths(state_dir=rules.state_dir)
        folder = paths.folder(int(place["owner"]), key[1] or place["digest"])
        if not folder.is_dir():
            raise SourceInvalid("What was uploaded is not there any more. Upload it again.")
        return folder

    def overlaps(self, place: Mapping[str, str], other: Mapping[str, str]) -> bool:  # noqa: ARG002 - the port's
        return False

    def version(self, place: Mapping[str, str]) -> str:
        return place["digest"]

    def stays(self, kept: Mapping[str, str], place: Mapping[str, str]) -> bool:
        """Each job goes on with its own version, which its owner keeps as long as it lives."""
        return kept["owner"] == place["owner"]
