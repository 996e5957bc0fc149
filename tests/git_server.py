"""A real git server for tests: `git http-backend` behind a small web server on this machine."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    **{
        f"GIT_{who}_{what}": f"{value}"
        for who in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "ada"), ("EMAIL", "ada@localhost"))
    },
}


@dataclass
class GitServer:
    """Repositories below one folder, and how the server is to behave."""

    root: Path
    port: int = 0
    password: str = ""  # "": everybody may read
    redirects_to: str = ""
    asked: list[str] = field(default_factory=list)  # paths
    first: str = ""  # the first commit, where a test needs it

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.port}/{name}"

    def commit(self, name: str, files: dict[str, str | None]) -> str:
        """Change files of a repository's branch main; returns the commit. None: a link to `a`."""
        folder = self.root / f"{name}.work"
        if not folder.exists():
            git(self.root, "init", "-q", "-b", "main", str(folder))
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            if text is None:
                file.symlink_to("a")
            else:
                file.write_text(text)
                file.chmod(0o755 if text.startswith("#!") else 0o644)
        git(folder, "add", "-A", "-f")
        git(folder, "commit", "-q", "--allow-empty", "-m", "x")
        bare = self.root / name
        if not bare.exists():
            git(self.root, "clone", "-q", "--bare", str(folder), str(bare))
            git(bare, "config", "uploadpack.allowAnySHA1InWant", "true")
        git(folder, "push", "-q", str(bare), "main")
        return git(folder, "rev-parse", "HEAD")

    def folder(self, name: str) -> Path:
        return self.root / f"{name}.work"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=_ENVIRONMENT,
    )
    return done.stdout.strip()


@contextmanager
def git_server(root: Path) -> Iterator[GitServer]:
    server = GitServer(root=root)

    class Handler(_Handler):
        git = server

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    web.daemon_threads = True
    server.port = web.server_port
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        web.shutdown()
        thread.join()
        web.server_close()


class _Handler(BaseHTTPRequestHandler):
    git: GitServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self._body())

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        whole = b""
        while size := int(self.rfile.readline(), 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        return whole

    def _answer(self, body: bytes) -> None:
        self.git.asked.append(self.path)
        self.close_connection = True
        if self.git.redirects_to:
            self.send_response(302)
            self.send_header("Location", self.git.redirects_to + self.path)
            self.end_headers()
        elif self.git.password and self.headers.get("Authorization") != self.git.password:
            self.send_response(401)
            self.end_headers()
        else:
            self._serve(body)

    def _serve(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        variables: dict[str, Any] = {
            **_ENVIRONMENT,
            "GIT_PROJECT_ROOT": self.git.root,
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, capture_output=True, check=False, env=variables
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        self.send_response(int(headers.pop("Status", "200").split(" ")[0]))
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
