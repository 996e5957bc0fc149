"""How does an archive of code become a folder again?"""

from __future__ import annotations

import tarfile
from typing import IO, TYPE_CHECKING

from concertina.errors import BadInput

if TYPE_CHECKING:
    from pathlib import Path


def unpack(archive: IO[bytes], into: Path) -> int:
    """Unpack into a new or empty folder; return how many files there are.

    Raises:
        BadInput: something is there already, or it cannot be written.
    """
    try:
        into.mkdir(parents=True, exist_ok=True)
        if any(into.iterdir()):
            raise BadInput(f"{into} is not empty. Name a folder that is, or is not there yet.")
        with tarfile.open(fileobj=archive, mode="r:gz") as tar:
            members = tar.getmembers()
            tar.extractall(into, members=members, filter="data")
    except OSError as error:
        raise BadInput(f"{into} cannot be written: {error.strerror or error}.") from error
    except tarfile.TarError as error:
        raise BadInput(f"The archive of the code is broken: {error}.") from error
    return len(members)
