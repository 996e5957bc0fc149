"""How does something large reach the service? In pieces; what has arrived is not sent again."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Any, Final

from concertina.errors import RefusedByService

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST_STEPS_BACK: Final = 20  # of which each means that somebody else uploads the same, or did
_RESTARTS: Final = frozenset({"wrong_offset", "invalid_snapshot"})


class Upload:
    """Code or data on its way to the service."""

    def __init__(
        self,
        path: str,
        archive: IO[bytes],
        length: int,
        *,
        send: Callable[..., tuple[int, Any]],
        on_progress: Callable[[int, int], None] = lambda _sent, _total: None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            path: of the snapshot, below the API's.
            archive: can be read from anywhere.
            length: bytes of the archive.
            send: sends a request, and tries again for a while if the service is away.
            on_progress: called with the bytes that have arrived, and all there are.
        """
        self._path = path
        self._archive = archive
        self._length = length
        self._send = send
        self._on_progress = on_progress

    def run(self) -> bool:
        """Upload what is missing; return False if all was there already.

        Raises:
            ConcertinaError: the service refuses it, or cannot be reached.
        """
        state = self._send("GET", self._path)[1]
        if state["is_complete"]:
            return False
        steps_back = 0
        while not state["is_complete"]:
            try:
                state = self._send_piece(state["received"], state["largest_piece"])
            except RefusedByService as refusal:
                steps_back += 1
                is_first = state["received"] == 0
                if refusal.code not in _RESTARTS or steps_back > _MOST_STEPS_BACK:
                    raise
                if refusal.code == "invalid_snapshot" and is_first:
                    raise
                state = self._send("GET", self._path)[1]
            self._on_progress(
                self._length if state["is_complete"] else state["received"], self._length
            )
        return True

    def _send_piece(self, offset: int, largest: int) -> Any:
        self._archive.seek(min(offset, self._length))
        headers = {
            "Content-Type": "application/octet-stream",
            "Upload-Offset": str(offset),
            "Upload-Length": str(self._length),
        }
        content = self._archive.read(largest)
        return self._send("PUT", self._path, content=content, headers=headers)[1]
