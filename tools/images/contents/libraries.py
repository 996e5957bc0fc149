"""Which of this machine's shared libraries belong in an image? All that its files ask for."""

from __future__ import annotations

import re
import subprocess
import sysconfig
from pathlib import Path

from tools.images.contents import elf
from tools.images.contents.tree import Tree

# Nothing in the tree may ask for these. glibc loads the first by name while it runs, to end a
# thread or to look names up; the others any compiled package expects that is installed on top.
_UNASKED = (
    *("libgcc_s.so.1", "libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"),
    *("libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"),
    *("libstdc++.so.6", "libz.so.1"),
)
_LISTED = re.compile(r"^\s*(?P<name>\S+) \((?P<kind>[^)]*)\) => (?P<path>\S+)$", re.MULTILINE)


class LibraryMissing(Exception):
    """A file of the image asks for a shared library that this machine does not have."""


def add(tree: Tree) -> None:
    """Add the libraries that the tree's files ask for and do not bring along, and the loader.

    All go where glibc looks without being told: beside libc itself.

    Raises:
        LibraryMissing: it names the file that asks.
    """
    known = _known_libraries()
    home = str(known["libc.so.6"].parent.resolve()).lstrip("/")
    brought = {Path(path).name for path in tree.entries}
    waiting = [(name, "the C library") for name in _UNASKED if name in known]
    waiting += [ask for path, file in tree.files().items() for ask in _asked(tree, path, file)]
    while waiting:
        name, asker = waiting.pop()
        if name in brought:
            continue
        if name not in known:
            raise LibraryMissing(f"{asker} needs {name}, which is not on this machine.")
        brought.add(name)
        path = f"{home}/{name}"
        tree.add_file(path, known[name])
        waiting += _asked(tree, path, known[name])


def _asked(tree: Tree, path: str, file: Path) -> list[tuple[str, str]]:
    found = elf.needs(file) if _may_be_elf(file) else None
    if found is None:
        return []
    if found.loader is not None:
        _add_loader(tree, found.loader)
    return [(name, path) for name in found.libraries if not name.startswith("ld-linux")]


def _may_be_elf(file: Path) -> bool:
    return file.suffix not in {".py", ".pyi", ".h", ".json", ".txt"}


def _add_loader(tree: Tree, loader: str) -> None:
    real = str(Path(loader).parent.resolve() / Path(loader).name).lstrip("/")
    tree.add_file(real, Path(loader))


def _known_libraries() -> dict[str, Path]:
    """The libraries, by name, that the loader of this machine would find, and Python's own."""
    listing = subprocess.run(
        ("/sbin/ldconfig", "-p"), capture_output=True, text=True, check=True
    ).stdout
    found = {
        match["name"]: Path(match["path"])
        for match in reversed(list(_LISTED.finditer(listing)))
        if "64" in match["kind"]
    }
    own = Path(sysconfig.get_config_var("LIBDIR") or "/nowhere")
    return {**found, **{file.name: file for file in own.glob("libpython*.so.*")}}
