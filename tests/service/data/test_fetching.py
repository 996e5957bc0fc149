"""What does a fetcher make of stores that lie, stumble, change or vanish in the middle?"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cluster.files.discarding import discard
from storage.data.fetcher import downloading
from storage.data.fetcher.checksums import is_as_stored
from storage.data.fetcher.listing import list_objects
from storage.data.fetcher.orders import (
    FetchError,
    FetchProgress,
    FetchResult,
    SourceAway,
    Status,
    UnusableSource,
)
from storage.data.fetcher.pieces import PIECE_BYTES, Journal
from storage.data.fetcher.stores.opening import open_store
from storage.data.fetcher.stores.port import ObjectStore
from storage.data.listings import MOST_OBJECTS, ListingInvalid, ObjectListing, StoredObject

from autoscaler.backoff import Backoff
from tests.object_store import noise

AT_ONCE = Backoff(first_seconds=0.0, longest_seconds=0.0)


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@dataclass
class MemoryStore:
    """The port's twin in memory, which does whatever a test wants of it."""

    contents: Mapping[str, bytes]
    troubles: list[FetchError] = field(default_factory=list)  # of the next reads
    vanishes_after: int = 1000  # reads
    sends: Mapping[str, bytes] = field(default_factory=dict)  # instead of what it has
    reads: list[tuple[str, int]] = field(default_factory=list)

    async def objects(self) -> AsyncIterator[StoredObject]:
        for name, content in self.contents.items():
            yield StoredObject(
                name=name, address=name, size=len(content), version=md5(content), md5=md5(content)
            )

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        self.reads.append((one.name, start))
        if len(self.reads) > self.vanishes_after:
            raise SourceAway("it is gone")
        if self.troubles:
            raise self.troubles.pop()
        yield self.sends.get(one.name, self.contents[one.name])[start:end]

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - the port's
        return None

    async def aclose(self) -> None:
        pass


def fetch(
    store: ObjectStore, tmp_path: Path, *, known: Mapping[tuple[str, str, int], Path] | None = None
) -> Path:
    """List all and fetch it; returns the folder."""

    async def run() -> Path:
        listing = await list_objects(store, between_tries=AT_ONCE)
        folder = tmp_path / listing.version
        await downloading.ListingDownload(
            store=store,
            listing=listing,
            part=tmp_path / "part",
            folder=folder,
            progress=FetchProgress(tmp_path / "status", listing.bytes),
            known=known or {},
            between_tries=AT_ONCE,
        ).run()
        return folder

    return asyncio.run(run())


def test_objects_become_files_that_nobody_changes(tmp_path: Path) -> None:
    large = noise(PIECE_BYTES + 7)
    folder = fetch(MemoryStore({"a/b": large, "c": b"", "d": b"x"}), tmp_path)
    assert (folder / "a" / "b").read_bytes() == large
    assert (folder / "c").read_bytes() == b""
    assert [oct(path.stat().st_mode)[-3:] for path in (folder, folder / "a", folder / "d")] == [
        "555",
        "555",
        "444",
    ]
    assert not (tmp_path / "part").exists()


def test_a_store_that_stumbles_is_asked_again(tmp_path: Path) -> None:
    store = MemoryStore({"a": b"content"}, troubles=[SourceAway("busy"), SourceAway("busy")])
    assert (fetch(store, tmp_path) / "a").read_bytes() == b"content"
    assert len(store.reads) == 3


def test_after_one_that_vanished_only_the_rest_is_fetched(tmp_path: Path) -> None:
    contents = {"a": noise(3 * PIECE_BYTES), "b": b"small"}
    with pytest.raises(SourceAway, match="gone"):
        fetch(MemoryStore(contents, vanishes_after=2), tmp_path)
    assert not list(tmp_path.glob("?" * 64)), "nothing is half visible"
    journal = Journal(tmp_path / "part")
    journal.close()
    came = len(journal.whole) + sum(map(len, journal.pieces.values()))
    again = MemoryStore(contents)
    folder = fetch(again, tmp_path)
    assert (folder / "a").read_bytes() == contents["a"]
    assert len(again.reads) == 4 - came < 4


@dataclass
class SlowStore(MemoryStore):
    """Sends the first piece of a file only when it has been asked for the last."""

    is_asked_for_the_last: asyncio.Event = field(default_factory=asyncio.Event)

    async def read(self, one: StoredObject, start: int, end: int) -> AsyncGenerator[bytes]:
        if end == one.size:
            self.is_asked_for_the_last.set()
        async for chunk in super().read(one, start, end):
            if start == 0:
                await self.is_asked_for_the_last.wait()
            yield chunk


def test_a_piece_that_comes_slowly_keeps_no_other_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloading, "PIECE_BYTES", 3)
    store = SlowStore({"a": noise(100)})
    assert (fetch(store, tmp_path) / "a").read_bytes() == noise(100)
    assert len(store.reads) == 34


def test_pieces_of_another_boot_are_fetched_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add_whole(1)
    journal.add_piece(2, 0)
    journal.close()
    path = tmp_path / "journal"
    path.write_text("boot another .\n" + path.read_text().split("\n", 1)[1] + "whole 7")
    again = Journal(tmp_path)
    again.close()
    assert (again.whole, again.pieces) == ({1}, {}), "neither what the memory had, nor half a line"


def test_what_another_version_has_is_not_fetched(tmp_path: Path) -> None:
    first = fetch(MemoryStore({"a": b"same", "b": b"old"}), tmp_path)
    known = {("a", md5(b"same"), 4): first / "a"}
    store = MemoryStore({"a": b"same", "b": b"new"})
    second = fetch(store, tmp_path, known=known)
    assert [name for name, _ in store.reads] == ["b"]
    assert (second / "a").stat().st_ino == (first / "a").stat().st_ino
    assert [(one / "b").read_bytes() for one in (first, second)] == [b"old", b"new"]
    discard(first, aside=tmp_path / "aside")
    assert (second / "a").read_bytes() == b"same", "it is there as long as one version has it"


@pytest.mark.parametrize(
    ("sent", "said"),
    [(b"con", "has 7 bytes, and sends fewer"), (b"another", "its digest is another")],
)
def test_a_store_that_lies_is_refused(tmp_path: Path, sent: bytes, said: str) -> None:
    with pytest.raises(UnusableSource, match=said):
        fetch(MemoryStore({"a": b"content"}, sends={"a": sent}), tmp_path)
    assert not list(tmp_path.glob("?" * 64))


def test_what_a_store_sends_beyond_the_end_is_left_out(tmp_path: Path) -> None:
    store = MemoryStore({"a": b"content"}, sends={"a": b"content and more"})

    async def too_much(one: StoredObject, _: int, __: int) -> AsyncGenerator[bytes]:
        yield store.sends[one.name]

    store.read = too_much  # type: ignore[method-assign]
    assert (fetch(store, tmp_path) / "a").read_bytes() == b"content"


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["../etc/passwd"], "cannot be a file"),
        (["/etc/passwd"], "cannot be a file"),
        (["a//b"], "cannot be a file"),
        (["a/./b"], "cannot be a file"),
        (["a\0b"], "cannot be a file"),
        (["a/" * 60 + "b"], "too long or too deep"),
        (["x" * 256], "too long or too deep"),
        (["a", "a/b"], "would be a file and, for 'a/b', a folder"),
        ([], "no objects"),
    ],
)
def test_names_that_cannot_be_files_are_refused(names: list[str], said: str) -> None:
    objects = [StoredObject(name=name, address=name, size=1, version="v") for name in names]
    with pytest.raises(ListingInvalid, match=said):
        ObjectListing.of(objects)


@pytest.mark.parametrize(
    ("objects", "said"),
    [
        ([{"size": 1 << 59}, {"size": (1 << 59) + 1}], "there are 11529"),
        ([{"version": "v" * 1001}], "too long a version"),
        (
            [{"name": f"{n}{'/a' * 49}"} for n in range(MOST_OBJECTS // 49 + 1)],
            "in more than 200000 folders",
        ),
    ],
)
def test_what_no_disk_holds_is_refused(objects: list[dict[str, Any]], said: str) -> None:
    found = (
        StoredObject(**({"name": str(n), "address": "", "size": 1, "version": "v"} | one))
        for n, one in enumerate(objects)
    )
    with pytest.raises(ListingInvalid, match=said):
        ObjectListing.of(found)


@pytest.mark.parametrize(
    "change",
    [
        {"total_bytes": 2**63},
        {"done_bytes": -1},
        {"objects": True},
        {"version": "../x"},
        {"version": None},
        {"result": "perhaps"},
        {"problem": 7},
    ],
)
def test_a_status_that_makes_no_sense_is_none(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "status"
    Status(done_bytes=1, result=FetchResult.DONE, version="0" * 64).write(path)
    assert Status.read(path).result is FetchResult.DONE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert Status.read(path) == Status()


def test_what_a_store_says_is_text_that_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "status"
    Status(result=FetchResult.FAILED, problem="a\0b\ud800c\nd" + "e" * 5000).write(path)
    assert Status.read(path).problem == "a?b?c?d" + "e" * 993


def test_parts_that_are_not_equally_long_are_believed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    one = StoredObject(name="a", address="a", size=7, version=f"{'0' * 32}-3")
    assert is_as_stored(path, one, 1), "a store may say so of an object of any size"
    assert not is_as_stored(path, one, 3)


@pytest.mark.parametrize("text", ["cloud", '"cloud"', '"/etc/key.json"', "{}", "[]"])
def test_a_key_of_google_is_nothing_else(text: str) -> None:
    with pytest.raises(UnusableSource, match="is not the JSON key of a service account"):
        open_store("gs://datasets", endpoint="", credential={"GOOGLE_SERVICE_ACCOUNT": text})


def test_a_listing_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    objects = [StoredObject(name=n, address=n, size=1, version=f"v{n}") for n in ("b", "é", "a")]
    listing = ObjectListing.of(objects)
    assert listing.version == ObjectListing.of(reversed(objects)).version
    assert listing.version != ObjectListing.of([*objects[:2], replace(objects[2], size=2)]).version
    listing.write(tmp_path / "listing")
    assert ObjectListing.read(tmp_path / "listing") == listing
