"""What can be asked about the data that jobs may name?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast
from urllib.parse import quote, unquote

from concertina.connection.talks.uploading import said_by
from concertina.data.sending import upload_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from concertina.connection.connection import Send
    from concertina.documents import DataSource
    from concertina.submissions import UploadedData


class DataSources:
    """Those of the teams that the client sees. Who may change which, the service says."""

    def __init__(self, send: Send, of_team: Callable[[str | None], str]) -> None:
        self._send = send
        self._of_team = of_team

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

    def upload(
        self,
        name: str,
        folder: Path,
        *,
        team: str | None = None,
        on_read: Callable[[int, int], None] = lambda _read, _total: None,
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> UploadedData:
        """Upload a folder for a team, unless it is there already, and let its jobs name it.

        The folder is read twice: `on_read` hears of the first time. An upload that was broken off
        goes on where it was, as long as the files are the same.

        Raises: BadInput (it cannot be sent)
        """
        whose = unquote(self._of_team(team).rpartition("/")[2])
        told = upload_folder(name, folder, team=whose, on_read=on_read, on_progress=on_progress)
        return said_by(told, self._send)

    def remove(self, name: str) -> None:
        """Delete the source, not its files. Refused while live jobs use it."""
        self._send("DELETE", _address(name), is_repeatable=False)


def _address(name: str) -> str:
    return f"/data-sources/{quote(name, safe='')}"
