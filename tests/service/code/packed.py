"""Archives as somebody may send them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """A compressed archive, and the digest of what is in it."""

    archive: bytes
    digest: str


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def packed(members: Iterable[tuple[tarfile.TarInfo, bytes]]) -> Packed:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return of_bytes(plain.getvalue())


def of_bytes(plain: bytes) -> Packed:
    return Packed(archive=gzip.compress(plain, mtime=0), digest=hashlib.sha256(plain).hexdigest())


def files(**contents: str) -> Packed:
    """Files in one folder; `train_py` is train.py."""
    named = {name.replace("_py", ".py"): text.encode() for name, text in contents.items()}
    return packed(member(name, content) for name, content in named.items())
