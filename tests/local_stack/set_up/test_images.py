"""Images made of this machine's files: what goes in, and that it is the same every time."""

from __future__ import annotations

import importlib.util
import marshal
import py_compile
import sys
from pathlib import Path

import pytest
from local_stack.checkout import ROOT
from local_stack.containers.image_names import VERSION

from tools.images.catalogue import SERVICE, WORKER
from tools.images.contents import bytecode, distributions, elf, interpreter, libraries, system
from tools.images.contents.tree import Tree


def test_a_program_tells_its_loader_and_its_libraries() -> None:
    found = elf.needs(Path(sys.executable).resolve())
    assert found is not None
    assert found.loader is not None
    assert "ld-linux" in found.loader
    assert "libc.so.6" in found.libraries


def test_a_script_needs_no_libraries() -> None:
    assert elf.needs(Path(__file__)) is None


def test_all_libraries_come_along_where_the_loader_finds_them() -> None:
    tree = Tree()
    system.add(tree)
    libraries.add(tree)
    (home,) = {str(Path(path).parent) for path in tree.entries if path.endswith("/libc.so.6")}
    for file in tree.files().values():
        for name in (elf.needs(file) or elf.Needs()).libraries:
            assert f"{home}/{name}" in tree.entries or name.startswith("ld-linux")


def test_the_same_files_make_the_same_archive_whatever_their_times_and_order(
    tmp_path: Path,
) -> None:
    archives = []
    for order in (("a", "b"), ("b", "a")):
        tree = Tree()
        for name in order:
            file = tmp_path / name
            file.unlink(missing_ok=True)
            file.write_text(name)
            tree.add_file(f"deep/{name}", file)
        archives.append(tree.archive())
    assert archives[0] == archives[1]


def test_bytecode_is_believed_without_a_look_at_its_source(tmp_path: Path) -> None:
    source = tmp_path / "module.py"
    source.write_text("answer = 42\n")
    made = bytecode.compiled(source)
    assert made is not None
    assert made[:8] == importlib.util.MAGIC_NUMBER + b"\x01\x00\x00\x00"
    found: dict[str, object] = {}
    exec(marshal.loads(made[16:]), found)  # noqa: S102, S302 - our own module
    assert found["answer"] == 42


def test_bytecode_is_of_the_source_as_it_is_though_python_keeps_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "module.py"
    source.write_text("answer = 'long ago'")
    py_compile.compile(str(source))
    source.write_text("answer = 42")
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    made = bytecode.compiled(source)
    assert made is not None
    assert 42 in marshal.loads(made[16:]).co_consts  # noqa: S302 - made here


def test_a_template_that_is_no_python_has_no_bytecode(tmp_path: Path) -> None:
    source = tmp_path / "template.py"
    source.write_text("class {{ name }}:\n")
    assert bytecode.compiled(source) is None


def test_packages_come_with_what_they_need_and_with_their_commands() -> None:
    packages = distributions.with_dependencies(("celery",))
    assert {"celery", "kombu", "billiard"} <= {package.metadata["Name"] for package in packages}
    tree = Tree()
    distributions.add(tree, packages)
    assert f"{interpreter.PACKAGES}/kombu/__init__.py" in tree.entries
    assert tree.entries["usr/local/bin/celery"].mode == 0o755


def test_the_worker_image_holds_the_runtime_and_nothing_of_the_service() -> None:
    tree = Tree()
    WORKER.fill(tree)
    packages = {
        Path(path).relative_to(interpreter.PACKAGES).parts[0]
        for path in tree.entries
        if path.startswith(f"{interpreter.PACKAGES}/")
    }
    assert {"torch", "pynvml.py", "numpy"} <= packages
    assert not {"django", "celery", "psycopg2", "redis", "docker"} & packages
    assert "opt/concertina/concertina_worker/coordinator/__main__.py" in tree.entries


def test_the_service_image_holds_no_runtime_no_tests_and_no_server() -> None:
    tree = Tree()
    SERVICE.fill(tree)
    assert "app/manage.py" in tree.entries
    assert "app/worker_image/concertina_worker/protocol.py" in tree.entries
    assert "app/worker_image/concertina_worker/wiring.py" not in tree.entries
    assert not [
        path for path in tree.entries if "local_stack" in path or "embedded_postgres" in path
    ]


def test_the_dockerfile_of_the_service_copies_what_the_made_image_holds() -> None:
    *_, stage = (ROOT / "Dockerfile").read_text().split("\nFROM ")
    lines = [line.split()[1:] for line in stage.splitlines() if line.startswith("COPY ")]
    copied = {Path("app", name) for line in lines for name in _copied(*line)}
    tree = Tree()
    SERVICE.fill(tree)
    held = {Path(path) for path in tree.entries if path.startswith("app/")}
    assert [file for file in held if not copied & {file, *file.parents}] == []
    if not (ROOT / "frontend" / "dist").is_dir():
        copied.remove(Path("app/frontend/dist"))
    assert copied <= held | {folder for file in held for folder in file.parents}


def _copied(*words: str) -> list[str]:
    """What stays in the image of the files that a COPY line names."""
    *names, place = words
    if place == "/tmp/build/":  # noqa: S108 - of the image
        return []
    return [place] if names[0].startswith("--from=") else names


def test_the_names_of_images_carry_the_version_of_the_project() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    for image in (SERVICE, WORKER):
        assert f":-{image.tag}}}" in compose
    assert f"ARG BASE={WORKER.tag}\n" in (ROOT / "examples" / "Dockerfile").read_text()
    assert f'version = "{VERSION}"\n' in (ROOT / "worker_image" / "pyproject.toml").read_text()
    for file in ("Dockerfile", "worker_image/Dockerfile"):
        assert f"ARG VERSION={VERSION}\n" in (ROOT / file).read_text()
