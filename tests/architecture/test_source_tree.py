"""The shape of the source tree: what must stay where, and how long it may grow."""

from __future__ import annotations

import ast
import platform
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.written_documents import written

ROOT = Path(__file__).parents[2]
SOURCE_ROOT = ROOT / "platform"
LONGEST_MODULE = 400
MOST_MODULES = 12  # side by side in a folder, with the `__init__` that is its map
LONGEST_FUNCTION = 50
EMPTY_WORDS = {"utils", "util", "helpers", "common", "core", "base", "misc", "manager", "managers"}
IN_STOREYS = (
    *("autoscaler", "benchmarks", "client/concertina", "jobs", "tools"),
    *("platform/cluster", "platform/control_plane", "platform/local_stack", "platform/storage"),
    *(
        "platform/tenancy",
        "platform/tracing",
        "platform/webhooks",
        "worker_image/concertina_worker",
    ),
)
WITHOUT_A_LINE = {"__init__", "__main__", "admin", "apps", "commands", "management", "migrations"}
"""Modules and folders whose name says to whoever knows Python or Django what they are."""

SOURCES = (
    *("autoscaler", "benchmarks", "client", "examples", "jobs", "platform", "tools"),
    "worker_image",
)


@cache
def modules() -> Sequence[Path]:
    return [
        path
        for folder in SOURCES
        for path in (ROOT / folder).rglob("*.py")
        if not {"migrations", "node_modules", "__pycache__"} & set(path.parts)
    ]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def test_platform_is_still_the_module_of_the_standard_library() -> None:
    assert platform.__file__ is not None
    assert not Path(platform.__file__).is_relative_to(ROOT)
    assert platform.python_version_tuple() >= ("3", "11")


def test_the_folder_platform_is_a_source_root_and_never_a_package() -> None:
    assert not (SOURCE_ROOT / "__init__.py").exists()
    assert list(SOURCE_ROOT.glob("*.py")) == []


def test_no_package_of_ours_bears_a_name_of_the_standard_library() -> None:
    roots = (SOURCE_ROOT, ROOT / "worker_image", ROOT / "client")
    ours = {path.name for root in roots for path in root.iterdir() if path.is_dir()}
    assert not ours & sys.stdlib_module_names


@pytest.mark.parametrize("folder", [".", "platform"])
def test_the_standard_library_wins_from_every_folder(folder: str) -> None:
    script = "import platform, uuid; print(platform.system())"
    ran = subprocess.run(
        (sys.executable, "-c", script),
        cwd=ROOT / folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.strip() == platform.system()


def test_no_module_is_named_by_an_empty_word() -> None:
    assert [path for path in modules() if path.stem in EMPTY_WORDS] == []


def test_modules_that_people_write_stay_short() -> None:
    by_people = set(modules()) - written().keys()
    lengths = {path: len(path.read_text().splitlines()) for path in by_people}
    too_long = {str(path): length for path, length in lengths.items() if length > LONGEST_MODULE}
    assert too_long == {}


@pytest.mark.parametrize("package", IN_STOREYS)
def test_no_folder_of_a_package_in_storeys_holds_more_than_a_dozen_modules(package: str) -> None:
    held = Counter(path.parent for path in modules() if path.is_relative_to(ROOT / package))
    assert held
    assert {folder: number for folder, number in held.items() if number > MOST_MODULES} == {}


def test_no_folder_of_tests_holds_more_than_a_dozen_modules_of_them() -> None:
    held = Counter(path.parent for path in (ROOT / "tests").rglob("test_*.py"))
    assert held
    assert {folder: number for folder, number in held.items() if number > MOST_MODULES} == {}


@pytest.mark.parametrize("package", IN_STOREYS)
def test_each_folder_of_a_package_in_storeys_has_a_map(package: str) -> None:
    folders = {path.parent for path in modules() if path.is_relative_to(ROOT / package)}
    assert [folder for folder in folders if not (folder / "__init__.py").exists()] == []


@pytest.mark.parametrize("package", IN_STOREYS)
def test_the_map_of_each_folder_names_all_that_is_in_it(package: str) -> None:
    held = [path for path in modules() if path.is_relative_to(ROOT / package)]
    folders = {path.parent for path in held}
    not_named = {
        f"{path.parent}: {path.stem}"
        for path in (*held, *folders)
        if path.stem not in WITHOUT_A_LINE and path.parent in folders
        if not re.search(rf"\b{path.stem}\b", (path.parent / "__init__.py").read_text())
    }
    assert not_named == set()


def test_functions_stay_short() -> None:
    too_long = {
        f"{path}:{node.lineno} {node.name}": length
        for path in modules()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := _lines_of_code(node)) > LONGEST_FUNCTION
    }
    assert too_long == {}


def _lines_of_code(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines from the first statement after the docstring to the last."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_each_module_begins_with_a_sentence() -> None:
    silent = [path for path in modules() if not ast.get_docstring(tree_of(path))]
    assert [path for path in silent if path.stat().st_size] == []
