"""What can be asked of the checkpoints of one job?"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from concertina.connection import paging
from concertina.errors import BadInput
from concertina.results import weights
from concertina.results.downloading import FileDownload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from concertina.connection.connection import ApiConnection
    from concertina.documents import KeptCheckpoint

WEIGHTS = "model.safetensors"
STATE = "training.pt"


class JobCheckpoints:
    """Named by their step, or as `latest` or `best`."""

    def __init__(self, job_id: str, connection: ApiConnection) -> None:
        self._transport = connection.transport
        self._send = connection.send
        self._patience = connection.patience
        self._address = f"/jobs/{job_id}/checkpoints"

    def all(self) -> Iterator[KeptCheckpoint]:
        """Yield the newest first, fetched page by page as they are asked for."""
        return paging.every(self._send, self._address)

    def get(self, which: int | str = "latest") -> KeptCheckpoint:
        """Raises: NotFound."""
        return cast("KeptCheckpoint", self._send("GET", self._of(which))[1])

    def download(
        self,
        which: int | str,
        into: Path,
        *,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> KeptCheckpoint:
        """Write all of a checkpoint into a folder: its weights, and the rest of the training.

        Raises: NotFound, BadInput (it cannot be written), Unreachable (it came damaged)
        """
        found = self.get(which)
        if found["digest"] is not None:
            self._bring_weights(found, into / WEIGHTS, on_progress)
        self._fetch(found["step"], "state", into / STATE, on_progress)
        return found

    def download_weights(
        self,
        which: int | str,
        into: Path,
        *,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> KeptCheckpoint:
        """Write the weights to a file named `.safetensors`, or `.pt`, which takes PyTorch here.

        Raises: NotFound, BadInput (it cannot be written), Unreachable (it came damaged)
        """
        found = self.get(which)
        self._bring_weights(found, into, on_progress)
        return found

    def delete(self, which: int | str) -> None:
        """Delete a checkpoint. There is no way back."""
        self._send("DELETE", self._of(which), is_repeatable=False)

    def _bring_weights(
        self, found: KeptCheckpoint, into: Path, on_progress: Callable[[int, int], None]
    ) -> None:
        def fetch(file: Path) -> int:
            return self._fetch(found["step"], "weights", file, on_progress)

        weights.bring(fetch, found["digest"], into)

    def _fetch(
        self, step: int, part: str, into: Path, on_progress: Callable[[int, int], None]
    ) -> int:
        address = f"{self._of(step)}/{part}"
        download = FileDownload(self._transport, address, {}, on_progress=on_progress)
        return download.into(into, self._patience())

    def _of(self, which: int | str) -> str:
        text = str(which)
        if not (text.isascii() and text.isdigit()) and text not in {"latest", "best"}:
            raise BadInput(f"{text} is no checkpoint. Name a step, latest or best.")
        return f"{self._address}/{text}"
