"""What can be asked of the results of one job?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from concertina.connection import paging
from concertina.results.curves import curve_files
from concertina.results.curves.event_files import EventFiles
from concertina.results.downloading import FileDownload
from concertina.results.job_checkpoints import JobCheckpoints
from concertina.results.unpacking import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime
    from pathlib import Path

    from concertina.connection.connection import ApiConnection
    from concertina.documents import Output
    from concertina.results.curves.curve_files import CurveFormat


class JobResults:
    """The outputs, the checkpoints and the curve of a job, which may still run."""

    def __init__(self, job_id: str, connection: ApiConnection) -> None:
        self._transport = connection.transport
        self._send = connection.send
        self._patience = connection.patience
        self._outputs = f"/jobs/{job_id}/outputs"
        self._table = f"/jobs/{job_id}/metrics/table"
        self._log = f"/jobs/{job_id}/logs/file"
        self.checkpoints = JobCheckpoints(job_id, connection)

    def outputs(self, folder: str = "") -> Iterator[Output]:
        """What lies in a folder, in the order of names, fetched page by page as it is asked for."""
        return paging.every(self._send, self._outputs, folder=folder or None)

    def download(
        self,
        path: str,
        into: Path,
        *,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> int:
        """Write an output to this file, and return its bytes. A broken connection costs no byte.

        Raises: NotFound, BadInput (it cannot be written)
        """
        params = {"path": path}
        download = FileDownload(
            self._transport, f"{self._outputs}/file", params, on_progress=on_progress
        )
        return download.into(into, self._patience())

    def download_log(
        self,
        into: Path,
        *,
        worker: str | None = None,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> int:
        """Write all that is kept of its log, or of one worker's, to this file; return its bytes.

        A broken connection costs no byte, if nothing was written meanwhile.

        Raises: BadInput (it cannot be written)
        """
        params = {} if worker is None else {"worker": worker}
        download = FileDownload(self._transport, self._log, params, on_progress=on_progress)
        return download.into(into, self._patience())

    def download_folder(self, folder: str, into: Path) -> int:
        """Bring a folder of outputs, or all for `""`, into a new one; returns its count of files.

        Raises: NotFound, BadInput (the folder is not empty), Unreachable (nothing of it stays)
        """
        params = {"folder": folder} if folder else {}
        with self._transport.receive(f"{self._outputs}/archive", params, {}) as answer:
            return unpack(answer.pieces, into)

    def delete(self, path: str) -> None:
        """Delete a file, or a folder with all that is in it. There is no way back."""
        self._send("DELETE", self._outputs, params={"path": path}, is_repeatable=False)

    def write_metrics(
        self,
        file: Path,
        *,
        written_as: CurveFormat | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> None:
        """Write its progress over time, every point that is kept: CSV, JSON or Parquet.

        Which one, the end of the file's name says if nothing else does.

        Raises: BadInput (it cannot be written, or pyarrow is missing)
        """
        curve_files.write(
            lambda kind, into: self._fetch_table(kind, into, since, until), file, written_as
        )

    def event_files(self, folder: Path) -> EventFiles:
        """Its progress over time in a folder that TensorBoard reads, with nothing in it yet.

        Raises: BadInput (it cannot be written, or tensorboard is missing)
        """
        return EventFiles(folder, lambda into, since: self._fetch_table("csv", into, since, None))

    def _fetch_table(
        self, kind: str, into: Path, since: datetime | None, until: datetime | None
    ) -> int:
        moments = {"since": since, "until": until}
        params = {name: at.isoformat() for name, at in moments.items() if at is not None}
        download = FileDownload(self._transport, self._table, {"format": kind, **params})
        return download.into(into, self._patience())
