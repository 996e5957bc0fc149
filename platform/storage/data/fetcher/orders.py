"""What is a fetcher told to do, and what came of it? Values that travel as JSON."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Self

ANOTHER: Final = 4  # exit code: a fetcher of a service process before this one is still at it
_BETWEEN_SECONDS: Final = 0.5  # two writes of how far it is
_MOST: Final = 2**63 - 1  # of what is counted: a column of the database holds no more
_LONGEST_PROBLEM: Final = 1000  # characters
_VERSION: Final = re.compile(r"[0-9a-f]{64}|")


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOrder:
    """List a source into `listing`, or fetch what that names into `folder`."""

    url: str
    listing: str  # a file
    status: str  # a file: how far it is
    part: str = ""  # a folder for what is under way; empty: only list
    folder: str = ""  # where it is, once it is whole
    known: tuple[tuple[str, str], ...] = ()  # listings and folders with other versions of it
    endpoint: str = ""  # of a store that is not at its usual address
    credential: Mapping[str, str] = field(default_factory=dict, repr=False)
    networks: tuple[str, ...] = ()  # that are not public, and may be called
    own: tuple[tuple[str, int], ...] = ()  # hosts and ports of the service: never

    def dump(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"

    @classmethod
    def load(cls, line: bytes) -> Self:
        found = json.loads(line)
        for name in ("known", "own"):
            found[name] = tuple(tuple(pair) for pair in found[name])
        return cls(**{**found, "networks": tuple(found["networks"])})


class FetchResult(StrEnum):
    """What came of an order."""

    DONE = "done"
    LATER = "later"  # the store does not answer, or not well: it may yet
    CHANGED = "changed"  # an object is another than was listed
    FAILED = "failed"  # for good, until somebody changes something


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far it is; `result` is None while it is at it."""

    done_bytes: int = 0
    total_bytes: int = 0
    objects: int = 0
    version: str = ""
    result: FetchResult | None = None
    problem: str = ""

    @classmethod
    def read(cls, path: Path) -> Status:
        """Return what was written last; of nothing, and of what makes no sense, the beginning.

        Stores choose some of its words and numbers, so only what the database can keep is taken.
        """
        try:
            found = json.loads(path.read_text())
            return cls(
                done_bytes=_count(found["done_bytes"]),
                total_bytes=_count(found["total_bytes"]),
                objects=_count(found["objects"]),
                version=_version(found["version"]),
                result=FetchResult(found["result"]) if found["result"] else None,
                problem=_sentence(found["problem"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return cls()

    def write(self, path: Path) -> None:
        part = path.with_name(f"{path.name}.part")
        part.write_text(json.dumps(asdict(self)))
        part.replace(path)


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MOST:
        raise ValueError("is no count")
    return value


def _version(value: Any) -> str:
    if not _VERSION.fullmatch(value):
        raise ValueError("is no version")
    return str(value)


def _sentence(value: Any) -> str:
    return "".join(one if one.isprintable() else "?" for one in value[:_LONGEST_PROBLEM])


class FetchProgress:
    """Writes down how far a fetch is, twice a second at most."""

    def __init__(self, path: Path, total_bytes: int) -> None:
        self._path = path
        self._total_bytes = total_bytes
        self._written_at = 0.0
        self.done_bytes = 0

    def add(self, count: int) -> None:
        self.done_bytes += count
        now = time.monotonic()
        if now - self._written_at >= _BETWEEN_SECONDS:
            self._written_at = now
            Status(done_bytes=self.done_bytes, total_bytes=self._total_bytes).write(self._path)


class FetchError(Exception):
    """What keeps an order from being done; the message is for the job's users."""

    result: FetchResult = FetchResult.FAILED


class SourceAway(FetchError):
    """The store does not answer, or says that it has trouble of its own."""

    result = FetchResult.LATER


class ObjectChanged(FetchError):
    """An object is another than was listed."""

    result = FetchResult.CHANGED


class UnusableSource(FetchError):
    """The store, or what is in it, is not as it must be."""
