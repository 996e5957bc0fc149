"""Which files make up this machine's Python? Put where the official images have theirs."""

from __future__ import annotations

import os
import ssl
import sys
import sysconfig
from pathlib import Path

from tools.images.contents.tree import Tree

NAME = f"python{sys.version_info.major}.{sys.version_info.minor}"
LIBRARY = f"usr/local/lib/{NAME}"
PACKAGES = f"{LIBRARY}/site-packages"
PROGRAM = f"/usr/local/bin/{NAME}"
# Left out: tests, teaching, windows on a screen, what only builds Python itself.
_LEFT_OUT = {
    *("test", "tests", "idlelib", "turtledemo", "tkinter", "lib2to3", "ensurepip"),
    *("site-packages", "dist-packages", "__pycache__"),
}


def add(tree: Tree) -> None:
    """Add the interpreter and its standard library."""
    standard = Path(sysconfig.get_path("stdlib"))
    for folder, folders, files in os.walk(standard):
        folders[:] = [name for name in folders if not _is_left_out(name)]
        for name in files:
            file = Path(folder, name)
            if file.suffix != ".a":
                tree.add_file(f"{LIBRARY}/{file.relative_to(standard)}", file)
    tree.add_folder(PACKAGES)
    if "deb_system" in sysconfig.get_scheme_names():  # Debian's Python looks elsewhere
        tree.add_link(f"{LIBRARY}/dist-packages", "site-packages")
    tree.add_file(PROGRAM.lstrip("/"), Path(sys.executable).resolve())
    for name in ("python", "python3"):
        tree.add_link(f"usr/local/bin/{name}", NAME)
    _add_certificates(tree)


def _is_left_out(name: str) -> bool:
    return name in _LEFT_OUT or name.startswith("config-")


def _add_certificates(tree: Tree) -> None:
    """Add the certificates that this machine trusts, where its OpenSSL looks for them."""
    paths = ssl.get_default_verify_paths()
    bundle = Path("/etc/ssl/certs/ca-certificates.crt")
    for file in (bundle, Path(paths.cafile or bundle)):
        if file.is_file():
            tree.add_file(str(bundle).lstrip("/"), file)
            break
    if paths.openssl_cafile != str(bundle):
        tree.add_link(paths.openssl_cafile.lstrip("/"), str(bundle))
