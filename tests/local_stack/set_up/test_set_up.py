"""The parts of the set-up that decide: what is done already, and where packages come from."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from venv import EnvBuilder

import pytest
from local_stack.checkout import Checkout
from local_stack.set_up import dashboard
from local_stack.set_up.installer import parse_configuration, uv_environment
from local_stack.set_up.long_step import StepFailed, run_step
from local_stack.set_up.node import Npm, is_new_enough
from local_stack.set_up.stamp import Stamp, digest_of
from local_stack.set_up.virtual_environment import VirtualEnvironment

UV_VARIABLES = ("UV_FIND_LINKS", "UV_EXTRA_INDEX_URL", "UV_INDEX_STRATEGY", "SSL_CERT_FILE")


@pytest.fixture(autouse=True)
def _no_uv_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in UV_VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_uv_looks_where_pip_is_configured_to_look() -> None:
    listing = "global.find-links='/wheels'\nglobal.extra-index-url='file:///a\\nfile:///b'\n"
    assert uv_environment(parse_configuration(listing)) == {
        "UV_FIND_LINKS": "/wheels",
        "UV_EXTRA_INDEX_URL": "file:///a file:///b",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


def test_the_environment_of_pip_wins_over_its_files() -> None:
    listing = ":env:.find-links='/from-environment'\nglobal.find-links='/from-file'"
    assert parse_configuration(listing) == {"find-links": "/from-environment"}


def test_what_is_set_for_uv_itself_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_FIND_LINKS", "/mine")
    assert uv_environment({"find-links": "/of-pip"}) == {}


def test_a_stamp_is_valid_for_exactly_its_inputs(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_text("one")
    stamp = Stamp(file=tmp_path / "stamp", digest=digest_of([source]))
    assert not stamp.is_valid
    stamp.set()
    assert stamp.is_valid
    source.write_text("two")
    assert not Stamp(file=stamp.file, digest=digest_of([source])).is_valid


def test_a_virtual_environment_whose_making_was_interrupted_is_made_anew(tmp_path: Path) -> None:
    venv = VirtualEnvironment(folder=tmp_path / ".venv")
    EnvBuilder(with_pip=False).create(venv.folder)  # all there is when it is killed early
    venv.create(log=tmp_path / "install.log")
    subprocess.run([venv.python, "-m", "pip", "--version"], check=True, stdout=subprocess.DEVNULL)


def test_a_failed_step_shows_the_end_of_its_output(tmp_path: Path) -> None:
    script = "print('first'); raise SystemExit('no space left')"
    with pytest.raises(StepFailed, match="no space left"):
        run_step("Doomed", [sys.executable, "-c", script], log=tmp_path / "log", folder=tmp_path)


@pytest.mark.parametrize("version", [(20, 19, 0), (20, 20, 2), (22, 12, 0), (24, 1, 0)])
def test_node_builds_the_dashboard(version: tuple[int, ...]) -> None:
    assert is_new_enough(version)


@pytest.mark.parametrize("version", [(), (18, 20, 0), (20, 18, 9), (21, 7, 0), (22, 11, 0)])
def test_a_missing_or_old_node_is_not_used(version: tuple[int, ...]) -> None:
    assert not is_new_enough(version)


def test_a_dashboard_that_cannot_be_built_is_not_shown_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = Checkout(root=tmp_path, state_dir=tmp_path / "state", runtime_dir=tmp_path / "run")
    checkout.logs_dir.mkdir(parents=True)
    older = tmp_path / "frontend" / "dist" / "index.html"
    older.parent.mkdir(parents=True)
    older.write_text("older")
    for name in ("package.json", "package-lock.json"):
        (tmp_path / "frontend" / name).write_text("{}")
    fails = Npm(command=(sys.executable, "-c", "raise SystemExit('broken')"), environment={})
    monkeypatch.setattr(dashboard, "find_npm", lambda *_, **__: fails)
    dashboard.build(checkout, VirtualEnvironment(folder=tmp_path / "venv"))
    assert "The dashboard is left out" in capsys.readouterr().out
    assert not older.exists()
