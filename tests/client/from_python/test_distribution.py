"""Is the client a distribution of its own, which needs nothing of the service?"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.client.running_api import RunningApi

ROOT = Path(__file__).parents[3]
UV = Path(sys.executable).parent / "uv"
USE = """
import asyncio, sys
from concertina import AsyncClient, Client
import concertina

async def ask():
    async with AsyncClient.from_environment() as client:
        return [team["name"] async for team in every(client)]

async def every(client):
    for team in (await client.api.list_teams())["items"]:
        yield team

with Client.from_environment() as client:
    job = client.submit({"name": "digits", "command": ["python", "train.py"]}).job
    print(client.api.get_job(job["id"])["name"], client.find("digits")["state"])
print(asyncio.run(ask()))
print(concertina.__file__)
loaded = {name.partition(".")[0] for name in sys.modules}
print(sorted(loaded & {"typer", "rich", "yaml", "django", "numpy", "requests", "pathspec"}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    subprocess.run(command, cwd=ROOT / "client", check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and what it says that it needs, no more."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=False, symlinks=True)
    python = folder / "bin" / "python"
    install = (str(UV), "pip", "install", "--python", str(python), "--offline", "--no-index")
    subprocess.run((*install, "--no-deps", str(wheel)), check=True, capture_output=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (own,) = packages.glob("concertina_client-*.dist-info")
    for name in _needed(Distribution.at(own)):
        _copy(distribution(name), packages)
    return python


def _needed(installed: Distribution) -> set[str]:
    """The distributions that this one needs, and those that these need."""
    found: set[str] = set()
    ahead = [installed]
    while ahead:
        for text in ahead.pop().requires or ():
            wanted = Requirement(text)
            if wanted.name not in found and (not wanted.marker or wanted.marker.evaluate()):
                found.add(wanted.name)
                ahead.append(distribution(wanted.name))
    return found


def _copy(installed: Distribution, packages: Path) -> None:
    for file in installed.files or ():
        if ".." not in file.parts and file.suffix != ".pyc":
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(Path(str(file.locate())).read_bytes())


def run(python: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program that sees nothing of this checkout."""
    known = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment}
    return subprocess.run(
        (str(python), "-I", *arguments),
        check=False,
        env=known,
        cwd="/",
        capture_output=True,
        text=True,
    )


def test_both_clients_work_where_nothing_else_is_installed(
    bare: Path, api: RunningApi, token_of: dict[str, str]
) -> None:
    known = {"CONCERTINA_URL": api.url, "CONCERTINA_TOKEN": token_of["vision"]}
    ran = run(bare, "-W", "error", "-c", USE, **known)
    assert ran.returncode == 0, ran.stderr
    job, teams, place, loaded = ran.stdout.splitlines()
    assert (job, teams, loaded) == ("digits queued", "['language', 'vision']", "[]")
    assert Path(place).is_relative_to(bare.parents[1])


def test_what_it_says_that_it_needs_is_all_that_it_needs(bare: Path) -> None:
    check = (str(UV), "pip", "check", "--offline", "--python", str(bare))
    subprocess.run(check, check=True, capture_output=True)
    listed = subprocess.run(
        (str(UV), "pip", "list", "--offline", "--python", str(bare)),
        check=True,
        capture_output=True,
        text=True,
    )
    names = {line.split()[0] for line in listed.stdout.splitlines()[2:]}
    assert {"concertina-client", "httpx"} <= names
    assert names <= {
        *("anyio", "certifi", "concertina-client", "h11", "httpcore", "httpx", "idna"),
        "typing-extensions",
    }


def test_without_its_extra_the_command_line_says_what_to_install(bare: Path) -> None:
    for command in (("-m", "concertina"), (str(bare.with_name("concertina")),)):
        ran = run(bare, *command, "jobs")
        assert (ran.returncode, ran.stdout) == (1, "")
        assert re.fullmatch(
            r"The command line needs \w+, .* 'concertina-client\[cli\]'\n", ran.stderr
        )


def test_the_wheel_has_types_and_the_release_of_the_service(wheel: Path) -> None:
    service = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert wheel.name == f"concertina_client-{service['version']}-py3-none-any.whl"
    listed = subprocess.run(
        (sys.executable, "-m", "zipfile", "-l", str(wheel)),
        check=True,
        capture_output=True,
        text=True,
    )
    files = {line.split()[0] for line in listed.stdout.splitlines()[1:]}
    assert "concertina/py.typed" in files
    assert {file.partition("/")[0] for file in files} == {
        "concertina",
        f"concertina_client-{service['version']}.dist-info",
    }


def test_who_blocks_loads_nothing_of_who_awaits() -> None:
    """Each command of the command line would pay for it: it is a third of what the client takes."""
    tell = "import sys, concertina.client; print(*({'asyncio', 'anyio'} & {*sys.modules}))"
    ran = subprocess.run(
        (sys.executable, "-c", tell), check=True, capture_output=True, text=True, cwd=ROOT
    )
    assert ran.stdout == "\n"


def test_its_extras_name_all_that_its_modules_import() -> None:
    client = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]
    extras = client["optional-dependencies"].values()
    named = {Requirement(one).name for one in client["dependencies"]}
    named |= {Requirement(one).name for extra in extras for one in extra}
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "client/concertina").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        for name in (
            [one.name for one in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    foreign = imported - sys.stdlib_module_names - {"concertina"}
    assert foreign - {"torch"} == {{"pyyaml": "yaml"}.get(name, name) for name in named}


def test_its_ranges_hold_the_releases_with_which_the_service_is_tested() -> None:
    client = tomllib.loads((ROOT / "client/pyproject.toml").read_text())["project"]
    extras = client["optional-dependencies"].values()
    for text in (*client["dependencies"], *(one for extra in extras for one in extra)):
        wanted = Requirement(text)
        assert distribution(wanted.name).version in wanted.specifier
