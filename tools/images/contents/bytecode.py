"""What does Python make of a source file? Shipped, so that no start of a container has to.

A container's root is read-only: what is not shipped would be compiled at every start. The files
carry a digest of their source instead of its time, and are believed without a look at it.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import struct
import warnings
from concurrent.futures import ProcessPoolExecutor
from importlib.machinery import SourceFileLoader
from pathlib import Path, PurePosixPath
from types import CodeType

from tools.images.contents import interpreter
from tools.images.contents.tree import Tree

_MAGIC = importlib.util.MAGIC_NUMBER
_BY_TIME = 0
_BY_DIGEST_UNCHECKED = (1).to_bytes(4, "little")
_HEADER = 16  # bytes: magic, flags, then time and size or a digest


def add(tree: Tree) -> None:
    """Add the bytecode of every module in the tree; all cores share the work."""
    sources = {path: file for path, file in tree.files().items() if file.suffix == ".py"}
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        made = pool.map(compiled, sources.values(), chunksize=64)
        for path, content in zip(sources, made, strict=True):
            if content is not None:
                tree.add_bytes(_place(path), content)


def compiled(source: Path) -> bytes | None:
    """The content of the module's `.pyc`; None: it is no Python, but a template, say."""
    made = _compile(source)
    if made is None:
        return None
    return _MAGIC + _BY_DIGEST_UNCHECKED + importlib.util.source_hash(source.read_bytes()) + made


def _place(path: str) -> str:
    file = PurePosixPath(path)
    tag = interpreter.NAME.replace("python", "cpython-").replace(".", "")
    return str(file.parent / "__pycache__" / f"{file.stem}.{tag}.pyc")


def _compile(source: Path) -> bytes | None:
    """The module's code. Python keeps it beside the source, so the next time there is little to do.

    The path in it is that of the source; Python puts the right one there when it loads the module.
    """
    kept = Path(importlib.util.cache_from_source(str(source)))
    if not _is_of(kept, source):
        code = _code(source)
        if code is None or not _is_of(kept, source):
            return code and marshal.dumps(code)
    return kept.read_bytes()[_HEADER:]


def _code(source: Path) -> CodeType | None:
    """As Python itself would compile it, and keep it where it may."""
    loader = SourceFileLoader(source.stem, str(source))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return loader.get_code(source.stem)
        except (SyntaxError, ValueError):
            return None


def _is_of(kept: Path, source: Path) -> bool:
    """True if it was made of the source as it is: where Python may keep none, one may be old."""
    now = source.stat()
    numbers = (_BY_TIME, int(now.st_mtime), now.st_size)
    expected = struct.pack("<III", *(n & 0xFFFFFFFF for n in numbers))
    try:
        with kept.open("rb") as file:
            return file.read(_HEADER) == _MAGIC + expected
    except FileNotFoundError:
        return False
