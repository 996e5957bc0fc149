"""How do we talk to Docker? Through its command line, which is wherever its daemon is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from typing import IO

Url = str | None  # None: the daemon that the environment names


class EngineFailed(Exception):
    """Docker did not do what it was asked; in its words."""


def labels(url: Url, tag: str) -> Mapping[str, str] | None:
    """The labels of an image; None: there is none of that name."""
    command = _docker(url, "image", "inspect", "--format", "{{json .Config.Labels}}", tag)
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode == 0:
        return json.loads(finished.stdout) or {}
    if "No such image" in finished.stderr:
        return None
    raise EngineFailed(finished.stderr.strip())


def import_image(
    url: Url, tag: str, changes: tuple[str, ...], write: Callable[[IO[bytes]], None]
) -> None:
    """Make an image of the archive that `write` produces."""
    words = [word for change in changes for word in ("--change", change)]
    _feed(_docker(url, "import", *words, "-", tag), write)


def build_image(url: Url, tag: str, write: Callable[[IO[bytes]], None]) -> None:
    """Build an image of the context, Dockerfile included, that `write` produces."""
    _feed(_docker(url, "build", "--quiet", "--force-rm", "--tag", tag, "-"), write)


def _docker(url: Url, *words: str) -> tuple[str, ...]:
    return ("docker", *(("--host", url) if url else ()), *words)


def _feed(command: tuple[str, ...], write: Callable[[IO[bytes]], None]) -> None:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as docker:
        assert docker.stdin is not None  # noqa: S101 - we asked for a pipe
        assert docker.stdout is not None  # noqa: S101 - as above
        try:
            write(docker.stdin)
            docker.stdin.close()
        except BrokenPipeError:
            pass  # it says why below
        said = docker.stdout.read().decode(errors="replace")
    if docker.returncode != 0:
        raise EngineFailed(said.strip())
