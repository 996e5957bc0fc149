"""Which kinds of sources are there, and what does the platform ask of each?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Protocol

from storage.data.cache.room import Key
from storage.data.folders import FolderKind
from storage.data.job_outputs import OutputKind
from storage.data.object_stores import ObjectStoreKind
from storage.data.rules import DataRules
from storage.data.uploaded.kind import UploadKind
from storage.models import DataSource

Place = Mapping[str, str]
"""Where a source of some kind lies, in that kind's own words."""


class SourceKind(Protocol):
    """The port."""

    is_fetched: bool  # True: it is shown to jobs from the cache, in the version that each has
    may_be_written: bool  # by jobs, if an admin says so

    def checked(self, place: Place, rules: DataRules) -> dict[str, str]:
        """Return the place as it is kept.

        Raises:
            SourceInvalid: it is none, or not allowed.
        """

    def folder(self, place: Place, rules: DataRules, key: Key, /) -> Path:
        """Return the folder of the nodes that a job is shown; `key` is what it has in the cache.

        Raises:
            SourceInvalid: it is not there, or not allowed any more.
        """

    def overlaps(self, place: Place, other: Place) -> bool:
        """True if whoever writes to one may change what the other shows."""

    def version(self, place: Place) -> str:
        """Return the version that a job which is submitted now sees for ever; empty: none."""

    def stays(self, kept: Place, place: Place) -> bool:
        """True if live jobs go on with what they have when a source moves to another place."""


KINDS: Final[Mapping[str, SourceKind]] = {
    DataSource.Kind.FOLDER: FolderKind(),
    DataSource.Kind.OBJECT_STORE: ObjectStoreKind(),
    DataSource.Kind.OUTPUT: OutputKind(),
    DataSource.Kind.UPLOAD: UploadKind(),
}
FETCHED: Final = frozenset(kind for kind, one in KINDS.items() if one.is_fetched)
