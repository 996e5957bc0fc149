"""How does something large reach the service? In pieces; what has arrived is not sent again."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final, cast

from concertina.api.request import ApiRequest
from concertina.connection.talks.carrying import result_of
from concertina.connection.talks.steps import Result, Talk, TalkStep
from concertina.errors import RefusedByService

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send

_MOST_STEPS_BACK: Final = 20  # of which each means that somebody else uploads the same, or did
_RESTARTS: Final = frozenset({"wrong_offset", "invalid_snapshot"})


def said_by(talk: Talk[Result], send: Send) -> Result:
    """Carry out a talk of requests alone by who blocks. Raises: ConcertinaError."""

    def do(step: TalkStep) -> tuple[int, Any]:
        request = cast("ApiRequest", step)
        more = {"content": request.content, "headers": request.headers, "body": request.body}
        return send(request.method, request.path, **more)

    return result_of(talk, do)


class Upload:
    """Code or data on its way to the service."""

    def __init__(
        self,
        path: str,
        archive: IO[bytes],
        length: int,
        *,
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            path: of the snapshot, below the API's.
            archive: can be read from anywhere.
            length: bytes of the archive.
            on_progress: called with the bytes that have arrived, and all there are.
        """
        self._path = path
        self._archive = archive
        self._length = length
        self._on_progress = on_progress

    def by(self, send: Send) -> bool:
        """Upload by who blocks, as `run` does. Raises: ConcertinaError."""
        return said_by(self.run(), send)

    def run(self) -> Talk[bool]:
        """Upload what is missing; the result is False if all was there already.

        Raises:
            ConcertinaError: the service refuses it, or cannot be reached.
        """
        where = ApiRequest.of("GET", self._path)
        _, state = yield where
        if state["is_complete"]:
            return False
        steps_back = 0
        while not state["is_complete"]:
            try:
                _, state = yield self._piece(state["received"], state["largest_piece"])
            except RefusedByService as refusal:
                steps_back += 1
                is_first = state["received"] == 0
                if refusal.code not in _RESTARTS or steps_back > _MOST_STEPS_BACK:
                    raise
                if refusal.code == "invalid_snapshot" and is_first:
                    raise
                _, state = yield where
            self._on_progress(
                self._length if state["is_complete"] else state["received"], self._length
            )
        return True

    def _piece(self, offset: int, largest: int) -> ApiRequest:
        self._archive.seek(min(offset, self._length))
        headers = {
            "Content-Type": "application/octet-stream",
            "Upload-Offset": str(offset),
            "Upload-Length": str(self._length),
        }
        content = self._archive.read(largest)
        return ApiRequest.of("PUT", self._path, content=content, headers=headers)
