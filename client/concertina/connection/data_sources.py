"""What can be asked about the data that jobs may name?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from concertina.connection.connection import Send
    from concertina.documents import DataSource


class DataSources:
    """Those of the teams that the client sees. Admins change them, leads object stores."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def list(self) -> list[DataSource]:
        return cast("list[DataSource]", self._send("GET", "/data-sources")[1]["items"])

    def add(
        self, name: str, path: str, *, teams: Sequence[str], is_writable: bool = False
    ) -> DataSource:
        """Add a folder that nodes see, or replace the source of this name."""
        body = {"path": path, "teams": list(teams), "is_writable": is_writable}
        return cast("DataSource", self._send("PUT", _address(name), body=body)[1])

    def add_store(
        self,
        name: str,
        url: str,
        *,
        teams: Sequence[str],
        secret: str | None = None,
        endpoint: str | None = None,
    ) -> DataSource:
        """Add what lies behind a URL, which the platform fetches; `secret` is the first team's."""
        body = {"kind": "object_store", "url": url, "teams": list(teams)}
        more = {"secret": secret, "endpoint": endpoint}
        body |= {word: value for word, value in more.items() if value}
        return cast("DataSource", self._send("PUT", _address(name), body=body)[1])

    def add_outputs(self, name: str, job_id: str, *, teams: Sequence[str]) -> DataSource:
        """Add what a job wrote to its outputs; the job is pinned for that."""
        body = {"kind": "output", "job": job_id, "teams": list(teams)}
        return cast("DataSource", self._send("PUT", _address(name), body=body)[1])

    def remove(self, name: str) -> None:
        """Delete the source, not its files. Refused while live jobs use it."""
        self._send("DELETE", _address(name), is_repeatable=False)


def _address(name: str) -> str:
    return f"/data-sources/{quote(name, safe='')}"
