"""What does a fetcher make of stores that lie, hang, refuse, change or vanish in the middle?"""

from __future__ import annotations

import asyncio
import hashlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from storage.data.fetcher import downloading
from storage.data.fetcher.checksums import is_as_stored
from storage.data.fetcher.listing import list_objects
from storage.data.fetcher.orders import (
    Away,
    Changed,
    Order,
    Progress,
    Refused,
    Result,
    Status,
    Trouble,
)
from storage.data.fetcher.pieces import PIECE_BYTES, Journal
from storage.data.fetcher.stores import Store, open_store
from storage.data.listings import MOST_OBJECTS, Listing, ListingInvalid, StoredObject

from tests.looking import pause
from tests.object_store import CREDENTIAL, noise, object_store


def md5(content: bytes) -> str:
    return hashlib.md5(content, usedforsecurity=False).hexdigest()


@dataclass
class MemoryStore:
    """The port's twin in memory, which does whatever a test wants of it."""

    contents: Mapping[str, bytes]
    troubles: list[Trouble] = field(default_factory=list)  # of the next reads
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
            raise Away("it is gone")
        if self.troubles:
            raise self.troubles.pop()
        yield self.sends.get(one.name, self.contents[one.name])[start:end]

    async def parts(self, one: StoredObject) -> int | None:  # noqa: ARG002 - the port's
        return None


def fetch(
    store: Store, tmp_path: Path, *, known: Mapping[tuple[str, str, int], Path] | None = None
) -> Path:
    """List all and fetch it; returns the folder."""

    async def run() -> Path:
        listing = await list_objects(store, pause_seconds=0.0)
        folder = tmp_path / listing.version
        await downloading.Download(
            store=store,
            listing=listing,
            part=tmp_path / "part",
            folder=folder,
            progress=Progress(tmp_path / "status", listing.bytes),
            known=known or {},
            pause_seconds=0.0,
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
    store = MemoryStore({"a": b"content"}, troubles=[Away("busy"), Away("busy")])
    assert (fetch(store, tmp_path) / "a").read_bytes() == b"content"
    assert len(store.reads) == 3


def test_after_one_that_vanished_only_the_rest_is_fetched(tmp_path: Path) -> None:
    contents = {"a": noise(3 * PIECE_BYTES), "b": b"small"}
    with pytest.raises(Away, match="gone"):
        fetch(MemoryStore(contents, vanishes_after=2), tmp_path)
    assert not list(tmp_path.glob("?" * 64)), "nothing is half visible"
    journal = Journal(tmp_path / "part")
    journal.close()
    came = len(journal.whole) + sum(map(len, journal.pieces.values()))
    again = MemoryStore(contents)
    folder = fetch(again, tmp_path)
    assert (folder / "a").read_bytes() == contents["a"]
    assert len(again.reads) == 4 - came < 4


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


@pytest.mark.parametrize(
    ("sent", "said"),
    [(b"con", "has 7 bytes, and sends fewer"), (b"another", "its digest is another")],
)
def test_a_store_that_lies_is_refused(tmp_path: Path, sent: bytes, said: str) -> None:
    with pytest.raises(Refused, match=said):
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
        Listing.of(objects)


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
        Listing.of(found)


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
    Status(done_bytes=1, result=Result.DONE, version="0" * 64).write(path)
    assert Status.read(path).result is Result.DONE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert Status.read(path) == Status()


def test_what_a_store_says_is_text_that_can_be_kept(tmp_path: Path) -> None:
    path = tmp_path / "status"
    Status(result=Result.FAILED, problem="a\0b\ud800c\nd" + "e" * 5000).write(path)
    assert Status.read(path).problem == "a?b?c?d" + "e" * 993


def test_parts_that_are_not_equally_long_are_believed(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    one = StoredObject(name="a", address="a", size=7, version=f"{'0' * 32}-3")
    assert is_as_stored(path, one, 1), "a store may say so of an object of any size"
    assert not is_as_stored(path, one, 3)


@pytest.mark.parametrize("text", ["cloud", '"cloud"', '"/etc/key.json"', "{}", "[]"])
def test_a_key_of_google_is_nothing_else(text: str) -> None:
    with pytest.raises(Refused, match="is not the JSON key of a service account"):
        open_store("gs://datasets", endpoint="", credential={"GOOGLE_SERVICE_ACCOUNT": text})


def test_a_listing_is_known_by_what_is_in_it(tmp_path: Path) -> None:
    objects = [StoredObject(name=n, address=n, size=1, version=f"v{n}") for n in ("b", "é", "a")]
    listing = Listing.of(objects)
    assert listing.version == Listing.of(reversed(objects)).version
    assert listing.version != Listing.of([*objects[:2], replace(objects[2], size=2)]).version
    listing.write(tmp_path / "listing")
    assert Listing.read(tmp_path / "listing") == listing


class Web(ThreadingHTTPServer):
    """A web server whose one file is what a test says, and which does as it says."""

    daemon_threads = True
    content = noise(3000)
    tag = '"one"'
    status = 200
    sends: int | None = None  # bytes of each answer, whatever it says
    knows_ranges = True
    redirects_to = ""
    hangs = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Page)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file.bin"


class _Page(BaseHTTPRequestHandler):
    server: Web

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        web, content = self.server, self.server.content
        status = web.status
        if web.redirects_to:
            status = 302
        elif web.knows_ranges and (text := self.headers.get("Range")):
            start, end = text.removeprefix("bytes=").split("-")
            content, status = content[int(start) : int(end) + 1], 206
        self.send_response(status)
        self.send_header("Location", web.redirects_to or "/")
        self.send_header("ETag", web.tag)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content[: web.sends])
        self.close_connection = True


@pytest.fixture
def web() -> Iterator[Web]:
    server = Web()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def from_web(web: Web, tmp_path: Path) -> Path:
    async def run() -> Path:
        store: Any = open_store(web.url, endpoint="", credential={})
        try:
            listing = await list_objects(store, pause_seconds=0.0)
            if web.hangs:
                web.tag = '"two"'
            await downloading.Download(
                store=store,
                listing=listing,
                part=tmp_path / "part",
                folder=tmp_path / "whole",
                progress=Progress(tmp_path / "status", listing.bytes),
                known={},
                pause_seconds=0.0,
            ).run()
        finally:
            await (await store._fs.set_session()).close()  # noqa: SLF001 - else it warns
        return tmp_path / "whole"

    return asyncio.run(run())


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_file_comes_from_a_web_server(web: Web, tmp_path: Path, *, knows_ranges: bool) -> None:
    web.knows_ranges = knows_ranges
    assert (from_web(web, tmp_path) / "file.bin").read_bytes() == web.content


def test_a_web_server_that_breaks_off_may_do_better_later(web: Web, tmp_path: Path) -> None:
    web.sends = 1000
    with pytest.raises(Away, match="does not answer well for"):
        from_web(web, tmp_path)


def test_a_file_that_changes_between_is_noticed(web: Web, tmp_path: Path) -> None:
    web.hangs = True
    with pytest.raises(Changed):
        from_web(web, tmp_path)


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (403, Refused, "refuses"),
        (404, Refused, "Check the URL"),
        (503, Away, "503"),
    ],
)
def test_what_a_web_server_refuses_is_told(
    web: Web, tmp_path: Path, status: int, kind: type[Trouble], said: str
) -> None:
    web.status = status
    with pytest.raises(kind, match=said):
        from_web(web, tmp_path)


def order(url: str, tmp_path: Path, **more: Any) -> Order:
    return Order(url=url, listing=str(tmp_path / "list"), status=str(tmp_path / "status"), **more)


@contextmanager
def fetcher(order: Order) -> Iterator[subprocess.Popen[bytes]]:
    """The program itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "storage.data.fetcher"],
        stdin=subprocess.PIPE,
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    assert process.stdin is not None
    try:
        process.stdin.write(order.dump())
        process.stdin.flush()
        yield process
    finally:
        process.stdin.close()
        process.kill()
        process.wait()


def outcome(order: Order) -> Status:
    with fetcher(order) as process:
        assert process.wait(60) == 0
    return Status.read(Path(order.status))


@pytest.mark.parametrize(
    "target", ["http://169.254.169.254/latest/meta-data", "http://127.0.0.1:{other}/private"]
)
def test_no_redirect_leads_to_where_no_store_may_be(web: Web, tmp_path: Path, target: str) -> None:
    private = Web()  # nobody serves it: a connection would be taken, and wait
    web.redirects_to = target.format(other=private.server_port)
    found = outcome(order(web.url, tmp_path, networks=(f"127.0.0.1:{web.server_port}",)))
    private.server_close()
    assert found.result is Result.FAILED
    assert found.problem.startswith("The store leads to where nothing may be fetched: 1")


def test_a_fetcher_ends_with_who_gave_the_order(tmp_path: Path) -> None:
    silent = Web()  # it takes connections and answers nothing
    asked = order(silent.url, tmp_path, networks=("127.0.0.1/32",))
    with fetcher(asked) as process:
        assert process.stdin is not None
        began = time.monotonic()
        while not (tmp_path / "list.lock").exists():
            assert process.poll() is None
            assert time.monotonic() - began < 60
            pause(began)
        process.stdin.close()
        assert process.wait(60) == 3
    silent.server_close()


def test_what_s3_has_in_parts_and_pages_comes_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "2")  # of a page
    with object_store() as store:
        parts = (noise(5 << 20, "one"), noise(1000, "two"))
        store.put_in_parts("set/large", *parts)
        for number in range(5):
            store.put(f"set/small/{number}", b"%d" % number)
        store.put("settings", b"begins alike")
        more = {
            "endpoint": store.endpoint,
            "credential": CREDENTIAL,
            "networks": (store.address,),
        }
        listed = outcome(order("s3://datasets/set", tmp_path, **more))
        assert (listed.result, listed.objects) == (Result.DONE, 6), listed.problem
        folder = tmp_path / "whole"
        fetched = outcome(
            order(
                "s3://datasets/set",
                tmp_path,
                part=str(tmp_path / "part"),
                folder=str(folder),
                **more,
            )
        )
        assert fetched.result is Result.DONE, fetched.problem
        assert (folder / "large").read_bytes() == b"".join(parts)
        assert (folder / "small" / "4").read_bytes() == b"4"
        assert not (folder / "settings").exists()
