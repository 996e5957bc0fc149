"""How fast does the fetcher bring data in, beside `cp` and `curl` of the same bytes?

    python -m benchmarks.data_fetch --mebibytes 512

One web server of this machine serves one file to both `curl` and the fetcher, which checks and
syncs what it wrote; `cp` copies it, and syncs. Each is tried several times in turns; the medians
count.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Final

from storage.data.fetcher.orders import FetchOrder, FetchResult, Status

_CHUNK: Final = 1 << 20


class _Page(BaseHTTPRequestHandler):
    """Serves one file with ranges, by the kernel's own copying."""

    protocol_version = "HTTP/1.1"
    path_of_file: Path

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._head(200, self.path_of_file.stat().st_size)

    def do_GET(self) -> None:
        size = self.path_of_file.stat().st_size
        text = self.headers.get("Range", f"bytes=0-{size - 1}").removeprefix("bytes=")
        start, end = map(int, text.split("-"))
        self._head(206 if "Range" in self.headers else 200, end - start + 1)
        with self.path_of_file.open("rb") as file:
            self.connection.sendfile(file, start, end - start + 1)

    def _head(self, status: int, length: int) -> None:
        self.send_response(status)
        self.send_header("ETag", '"one"')
        self.send_header("Content-Length", str(length))
        self.end_headers()


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # five is the default: every connection more waits for a second


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _fetch(url: str, port: int, folder: Path) -> None:
    """List and fetch, each with a program's start, as for a job."""
    usual = {
        "url": url,
        "listing": str(folder / "list"),
        "status": str(folder / "status"),
        "networks": (f"127.0.0.1:{port}",),
    }
    for order in (
        FetchOrder(**usual),  # type: ignore[arg-type]  # the same words for both
        FetchOrder(**usual, part=str(folder / "part"), folder=str(folder / "whole")),  # type: ignore[arg-type]  # as above
    ):
        process = subprocess.Popen(
            [sys.executable, "-m", "storage.data.fetcher"],
            stdin=subprocess.PIPE,
            env={"PYTHONPATH": ":".join(sys.path)},
        )
        if process.stdin is not None:
            process.stdin.write(order.dump())
            process.stdin.flush()
        process.wait()
        status = Status.read(folder / "status")
        if status.result is not FetchResult.DONE:
            raise SystemExit(f"It was not fetched: {status.problem}")


def _curl(url: str, target: Path) -> None:
    subprocess.run(["curl", "--silent", "--fail", "--output", str(target), url], check=True)  # noqa: S607 - whichever is there
    subprocess.run(["sync", str(target)], check=True)  # noqa: S607 - as above


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "--reflink=never", str(source), str(target)], check=True)  # noqa: S607 - as above
    subprocess.run(["sync", str(target)], check=True)  # noqa: S607 - as above


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = folder / "file.bin"
        with source.open("wb") as file:
            for number in range(arguments.mebibytes):
                file.write(hashlib.shake_128(b"%d" % number).digest(_CHUNK))
        _Page.path_of_file = source
        server = _Server(("127.0.0.1", 0), _Page)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/file.bin"
        took: dict[str, list[float]] = {"cp": [], "curl": [], "fetcher": []}
        for number in range(arguments.rounds):
            here = folder / str(number)
            here.mkdir()
            ways: list[tuple[str, Callable[[], object]]] = [
                ("cp", partial(_copy, source, here / "copied")),
                ("curl", partial(_curl, url, here / "curled")),
                ("fetcher", partial(_fetch, url, server.server_port, here)),
            ]
            turn = number % len(ways)  # whoever comes first finds an idle disk
            for what, way in ways[turn:] + ways[:turn]:
                took[what].append(_timed(way))
            subprocess.run(["rm", "-rf", str(here)], check=True)  # noqa: S607 - as above
        server.shutdown()
    print(f"{arguments.mebibytes} MiB, {arguments.rounds} rounds, seconds and MiB/s at the median:")
    for what, seconds in took.items():
        median = statistics.median(seconds)
        print(f"  {what:8} {median:6.2f} s  {arguments.mebibytes / median:6.0f} MiB/s")


if __name__ == "__main__":
    main()
