"""How does a stream become a folder? Beside its place, and it is put there when it is whole."""

from __future__ import annotations

import io
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

from concertina.errors import BadInput, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator


def unpack(pieces: Iterator[bytes], into: Path) -> int:
    """Unpack a tar into a new or empty folder; return how many files there are.

    Raises:
        BadInput: something is there already, or it cannot be written.
        Unreachable: the stream broke off; nothing of it stays.
    """
    into = into.absolute()
    try:
        if into.exists() and (not into.is_dir() or any(into.iterdir())):
            raise BadInput(f"{into} is not an empty folder. Name one that is, or is not there yet.")
        into.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{into.name}.", dir=into.parent))
    except OSError as error:
        raise BadInput(f"{into} cannot be written: {error.strerror or error}.") from error
    try:
        files = _extract(pieces, aside / "whole")
        if into.exists():
            into.rmdir()
        (aside / "whole").rename(into)
    except tarfile.TarError as error:
        raise Unreachable(f"The archive is broken off: {error}. Try again.") from error
    except OSError as error:
        raise BadInput(f"{into} cannot be written: {error.strerror or error}.") from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return files


def _extract(pieces: Iterator[bytes], into: Path) -> int:
    into.mkdir()
    count = 0
    stream = cast("IO[bytes]", _Reader(pieces))
    with tarfile.open(fileobj=stream, mode="r|") as tar:
        for member in tar:
            tar.extract(member, into, filter="data")
            count += member.isfile()
    return count


class _Reader(io.RawIOBase):
    """What a stream yields, as a file that is read once."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        while size < 0 or len(self._rest) < size:
            piece = next(self._pieces, None)
            if piece is None:
                break
            self._rest += piece
        end = len(self._rest) if size < 0 else size
        found, self._rest = self._rest[:end], self._rest[end:]
        return found
