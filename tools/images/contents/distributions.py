"""Which installed packages does an image need, and which files are theirs?

Taken from the virtual environment that runs us; what a package needs itself comes along.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.images.contents import interpreter
from tools.images.contents.tree import Tree

_TESTS = ("torch/bin/test_", "torch/test/")  # programs; besides those in folders called so
_SCRIPT = """\
#!{program}
import sys
from {module} import {function}
sys.exit({function}())
"""


def with_dependencies(
    requirements: Iterable[str], *, without: Iterable[str] = ()
) -> tuple[Distribution, ...]:
    """The installed packages that these require, directly or not, by name; but for `without`.

    Raises:
        PackageNotFoundError: one of them is not installed.
    """
    found: dict[str, Distribution] = {}
    left_out = {canonicalize_name(name) for name in without}
    waiting = [Requirement(text) for text in requirements]
    seen: set[str] = set()
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), {"", *requirement.extras}
        key = f"{name}{sorted(extras)}"
        if name in left_out or key in seen:
            continue
        seen.add(key)
        found[name] = distribution(name)
        required = map(Requirement, found[name].requires or ())
        waiting += [one for one in required if _applies(one, extras)]
    return tuple(found[name] for name in sorted(found))


def _applies(requirement: Requirement, extras: set[str]) -> bool:
    if requirement.marker is None:
        return True
    return any(requirement.marker.evaluate({"extra": extra}) for extra in extras)


def add(tree: Tree, packages: Iterable[Distribution]) -> None:
    """Add their files, and a program for each command they offer."""
    for package in packages:
        home = Path(str(package.locate_file("")))
        for file in package.files or ():
            relative = os.path.normpath(file)
            if not _is_left_out(relative):
                tree.add_file(f"{interpreter.PACKAGES}/{relative}", home / relative)
        for command in package.entry_points.select(group="console_scripts"):
            text = _SCRIPT.format(
                program=interpreter.PROGRAM, module=command.module, function=command.attr
            )
            tree.add_text(f"usr/local/bin/{command.name}", text, mode=0o755)


def _is_left_out(file: str) -> bool:
    """Programs and bytecode, which we make ourselves, and what nobody reads there: half of all.

    Tests, headers for compilers, and translations that have not been compiled.
    """
    return (
        file.startswith(("..", *_TESTS))
        or file.endswith((".pyc", ".h", ".hpp", ".cuh", ".po"))
        or "/tests/" in file
    )
