"""What does a fetcher make of real servers: of one on the web, and of one that speaks S3?"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from storage.data.fetcher import downloading
from storage.data.fetcher.listing import list_objects
from storage.data.fetcher.orders import (
    FetchError,
    FetchOrder,
    FetchProgress,
    FetchResult,
    ObjectChanged,
    SourceAway,
    Status,
    UnusableSource,
)
from storage.data.fetcher.stores.opening import open_store

from autoscaler.backoff import Backoff
from tests.object_store import CREDENTIAL, noise, object_store
from tests.polling import pause

AT_ONCE = Backoff(first_seconds=0.0, longest_seconds=0.0)


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
        async with aclosing(open_store(web.url, endpoint="", credential={})) as store:
            listing = await list_objects(store, between_tries=AT_ONCE)
            if web.hangs:
                web.tag = '"two"'
            await downloading.ListingDownload(
                store=store,
                listing=listing,
                part=tmp_path / "part",
                folder=tmp_path / "whole",
                progress=FetchProgress(tmp_path / "status", listing.bytes),
                known={},
                between_tries=AT_ONCE,
            ).run()
        return tmp_path / "whole"

    return asyncio.run(run())


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_file_comes_from_a_web_server(web: Web, tmp_path: Path, *, knows_ranges: bool) -> None:
    web.knows_ranges = knows_ranges
    assert (from_web(web, tmp_path) / "file.bin").read_bytes() == web.content


def test_a_web_server_that_breaks_off_may_do_better_later(web: Web, tmp_path: Path) -> None:
    web.sends = 1000
    with pytest.raises(SourceAway, match="does not answer well for"):
        from_web(web, tmp_path)


def test_a_file_that_changes_between_is_noticed(web: Web, tmp_path: Path) -> None:
    web.hangs = True
    with pytest.raises(ObjectChanged):
        from_web(web, tmp_path)


@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (403, UnusableSource, "refuses"),
        (404, UnusableSource, "Check the URL"),
        (503, SourceAway, "503"),
    ],
)
def test_what_a_web_server_refuses_is_told(
    web: Web, tmp_path: Path, status: int, kind: type[FetchError], said: str
) -> None:
    web.status = status
    with pytest.raises(kind, match=said):
        from_web(web, tmp_path)


@pytest.mark.parametrize("scheme", ["gs", "az"])
@pytest.mark.parametrize(
    ("status", "kind", "said"),
    [
        (403, UnusableSource, "The store refuses"),
        (429, SourceAway, "does not answer well"),
        (503, SourceAway, "does not answer well"),
    ],
)
def test_who_may_not_read_is_told_at_once_and_who_must_wait_waits(
    web: Web, scheme: str, status: int, kind: type[FetchError], said: str
) -> None:
    web.status, web.content = status, b""
    asked = open_store(f"{scheme}://datasets", endpoint=f"{web.url}/tests", credential={})

    async def run() -> None:
        async with aclosing(asked) as opened:
            await list_objects(opened, between_tries=AT_ONCE)

    with pytest.raises(kind, match=said):
        asyncio.run(run())


def order(url: str, tmp_path: Path, **more: Any) -> FetchOrder:
    return FetchOrder(
        url=url, listing=str(tmp_path / "list"), status=str(tmp_path / "status"), **more
    )


@contextmanager
def fetcher(order: FetchOrder) -> Iterator[subprocess.Popen[bytes]]:
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


def outcome(order: FetchOrder) -> Status:
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
    assert found.result is FetchResult.FAILED
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
        assert (listed.result, listed.objects) == (FetchResult.DONE, 6), listed.problem
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
        assert fetched.result is FetchResult.DONE, fetched.problem
        assert (folder / "large").read_bytes() == b"".join(parts)
        assert (folder / "small" / "4").read_bytes() == b"4"
        assert not (folder / "settings").exists()
