"""How does a file of any size come here? Under another name, until it is whole.

Where the connection breaks it goes on, as long as the file is the same; else it begins again.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from concertina.connection.retrying import retry
from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from concertina.connection.retrying import RemainingRetries
    from concertina.connection.transport import Transport

_PARTIAL: Final = 206


class FileDownload:
    """One file on its way."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        params: Mapping[str, str],
        *,
        on_progress: Callable[[int, int], None] = lambda _here, _all: None,
    ) -> None:
        """Nothing is sent yet; `on_progress` hears of the bytes that are here, and of all."""
        self._transport = transport
        self._path = path
        self._params = params
        self._on_progress = on_progress
        self._etag = ""

    def into(self, target: Path, patience: RemainingRetries) -> int:
        """Write the file, in place of what is there; return its bytes.

        Raises:
            BadInput: it cannot be written.
            ConcertinaError: the service refuses it, or cannot be reached.
        """
        place = _place_of(target)
        # Two at once write their own. A name of a file may be no longer than it is.
        partial = place.with_name(f".{place.name[:50]}.{os.urandom(4).hex()}.part")
        try:
            retry(lambda: self._go_on(partial, patience), patience=patience)
            length = partial.stat().st_size
            partial.replace(place)
        except OSError as error:
            raise BadInput(f"{target} cannot be written: {error.strerror or error}.") from error
        finally:
            partial.unlink(missing_ok=True)
        return length

    def _go_on(self, partial: Path, patience: RemainingRetries) -> None:
        here = partial.stat().st_size if partial.exists() else 0
        headers = {"Range": f"bytes={here}-", "If-Range": self._etag} if here else {}
        with self._transport.receive(self._path, self._params, headers) as answer:
            self._etag = answer.headers.get("ETag", "")
            if answer.status != _PARTIAL:
                here = 0
            partial.parent.mkdir(parents=True, exist_ok=True)
            total = here + int(answer.headers.get("Content-Length", 0))
            with partial.open("r+b" if here else "wb") as file:
                file.seek(here)
                for piece in answer.pieces:
                    file.write(piece)
                    here += len(piece)
                    patience.renew()
                    self._on_progress(here, total)
                file.flush()
                os.fsync(file.fileno())


def _place_of(target: Path) -> Path:
    """Return which file is written: the one that a link leads to, and not the link.

    Raises:
        BadInput: it is something else, which would have to go.
    """
    try:
        place = target.resolve()
        is_free = place.is_file() or not place.exists()
    except (OSError, RuntimeError) as error:  # links that lead to each other
        raise BadInput(f"{target} cannot be written: {error}.") from error
    if not is_free:
        what = "a folder" if place.is_dir() else "no ordinary file"
        raise BadInput(f"{target} cannot be written: it is {what}. Name a file.")
    return place
