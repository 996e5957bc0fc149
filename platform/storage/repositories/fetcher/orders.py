"""What is a fetcher of a repository told, and what does it leave beside what it fetched?"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeOrder:
    """Fetch a folder of a repository, and unpack it below `folder`."""

    url: str
    folder: str  # a `Workplace`
    status: str  # a file: what came of it
    ref: str = ""
    path: str = ""
    credential: Mapping[str, str] = field(default_factory=dict, repr=False)
    networks: tuple[str, ...] = ()  # that are not public, and may be called
    own: tuple[tuple[str, int], ...] = ()  # hosts and ports of the service: never
    most_bytes: int
    most_files: int

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def load(cls, line: bytes) -> Self:
        found = json.loads(line)
        own = tuple(tuple(pair) for pair in found["own"])
        return cls(**{**found, "own": own, "networks": tuple(found["networks"])})


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedCommit:
    """What was fetched."""

    digest: str
    files: int
    folders: int
    bytes: int
    commit: str
    branch: str

    def write(self, path: Path) -> None:
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises: OSError, ValueError."""
        found: Any = json.loads(path.read_text())
        try:
            about = cls(**found)
            is_good = (
                _DIGEST.fullmatch(about.digest)
                and _COMMIT.fullmatch(about.commit)
                and all(type(one) is int for one in (about.files, about.folders, about.bytes))
                and about.branch.isprintable()
                and len(about.branch) <= 250  # noqa: PLR2004 - as a spec may say
            )
        except (TypeError, AttributeError) as problem:
            raise ValueError("is not about code") from problem
        if not is_good:
            raise ValueError("is not about code")
        return about
