"""How do weights come here, in a file that is opened without Concertina? Checked by a digest."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from concertina.errors import BadInput, Unreachable
from concertina.results import torch_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_SAFETENSORS: Final = ".safetensors"
_TORCH: Final = frozenset({".pt", ".pth"})


def bring(fetch: Callable[[Path], int], digest: str | None, into: Path) -> int:
    """Write weights to a file, of the kind that its name says; return its bytes.

    `fetch` writes safetensors to a file.

    Raises:
        BadInput: it cannot be written, or not as that kind.
        Unreachable: what came is not what was promised.
    """
    if into.suffix not in {_SAFETENSORS, *_TORCH}:
        raise BadInput(f"{into}: name a file that ends in .safetensors or .pt.")
    if into.suffix in _TORCH:
        torch_file.check_possible()
    partial = into.with_name(f".{into.name}.safetensors")
    try:
        fetch(partial)
        _check(partial, digest)
        if into.suffix in _TORCH:
            converted = into.with_name(f".{into.name}.part")
            try:
                torch_file.write(partial, converted)
                converted.replace(into)
            finally:
                converted.unlink(missing_ok=True)
        else:
            partial.replace(into)
        return into.stat().st_size
    except OSError as error:
        raise BadInput(f"{into} cannot be written: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)


def _check(file: Path, digest: str | None) -> None:
    with file.open("rb") as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest is not None and found != digest:
        raise Unreachable(
            "The weights that came are not those that were listed: their checksums differ. List"
            " them again; if it stays so, the disk has changed them.",
            is_temporary=False,
        )
