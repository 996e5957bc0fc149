"""What does an image need beside its own program? A shell, tools, a user, folders, names."""

from __future__ import annotations

import shutil
from pathlib import Path

from tools.images.contents.tree import Tree

USER, USER_NAME = 10001, "concertina"
_MERGED = ("bin", "sbin", "lib", "lib64")  # each is a link into usr
# What scripts and people who look into a container use most; what is not here is left out.
_TOOLS = (
    *("sh", "bash", "basename", "cat", "chmod", "cp", "cut", "date", "dd", "df", "dirname", "du"),
    *("env", "expr", "false", "find", "grep", "head", "hostname", "id", "kill", "ln", "ls"),
    *("mkdir", "mktemp", "mv", "nproc", "printf", "ps", "pwd", "readlink", "rm", "rmdir", "sed"),
    *("seq", "sleep", "sort", "stat", "tail", "tar", "tee", "test", "timeout", "touch", "tr"),
    *("true", "uname", "uniq", "wc", "whoami", "xargs", "gzip"),
)


def add(tree: Tree, *, user: int = USER, name: str = USER_NAME) -> None:
    """Add them; the libraries they need are added with all others."""
    _add_tools(tree)
    for folder in ("dev", "proc", "sys", "run", "var", "etc", "root"):
        tree.add_folder(folder)
    tree.add_folder("tmp", mode=0o1777)
    home = f"home/{name}"
    tree.add_folder(home, owner=user)
    entry = f"{name}:x:{user}:{user}::/{home}:/bin/sh"
    tree.add_text("etc/passwd", f"root:x:0:0::/root:/bin/sh\n{entry}\n")
    tree.add_text("etc/group", f"root:x:0:\n{name}:x:{user}:\n")
    tree.add_text("etc/nsswitch.conf", "hosts: files dns\n")
    _add_locale(tree)


def _add_tools(tree: Tree) -> None:
    for name in _MERGED:
        tree.add_folder(f"usr/{name}")
        tree.add_link(name, f"usr/{name}")
    for name in _TOOLS:
        if found := shutil.which(name, path="/usr/bin:/bin"):
            tree.add_file(f"usr/bin/{name}", Path(found))


def _add_locale(tree: Tree) -> None:
    """The C library's UTF-8, which newer ones have built in, and the time zones."""
    for folder in (Path("/usr/lib/locale/C.utf8"), Path("/usr/share/zoneinfo")):
        for file in folder.rglob("*"):
            if file.is_file() and not {"posix", "right"} & set(file.parts):
                tree.add_file(str(file).lstrip("/"), file)
