"""`./dev` answers on a machine where nothing is installed yet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture
def bare_checkout(tmp_path: Path) -> Path:
    """A copy without an environment, at a path with a space, as somebody may have cloned it."""
    checkout = tmp_path / "my checkout"
    for package in ("cluster", "local_stack"):
        shutil.copytree(
            ROOT / "platform" / package,
            checkout / "platform" / package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    shutil.copy(ROOT / "dev", checkout / "dev")
    return checkout


def run_dev(
    checkout: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run it from another folder, with an interpreter that has only the standard library."""
    return subprocess.run(
        (sys.executable, "-I", "-S", str(checkout / "dev"), *arguments),
        cwd="/",
        env={"PATH": os.environ["PATH"], **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_shows_the_two_commands_first(bare_checkout: Path) -> None:
    shown = run_dev(bare_checkout, "--help").stdout
    assert shown.index("./dev demo") < shown.index("./dev test") < shown.index("./dev up")


def test_every_command_has_its_help(bare_checkout: Path) -> None:
    for command in ("demo", "up", "test", "status", "logs", "down", "doctor", "clean"):
        shown = run_dev(bare_checkout, command, "--help")
        assert shown.returncode == 0
        assert f"./dev {command}" in shown.stdout


def test_an_unknown_command_is_refused_before_anything_is_installed(bare_checkout: Path) -> None:
    refused = run_dev(bare_checkout, "dmeo")
    assert refused.returncode == 2
    assert "invalid choice: 'dmeo'" in refused.stderr
    assert not (bare_checkout / ".venv").exists()


def test_status_logs_down_and_clean_know_that_nothing_is_there(bare_checkout: Path) -> None:
    assert run_dev(bare_checkout, "status").returncode == 3
    assert "No logs yet" in run_dev(bare_checkout, "logs").stdout
    assert "nothing was ever started" in run_dev(bare_checkout, "down").stdout
    assert run_dev(bare_checkout, "clean", "--yes").stdout.strip() == "Nothing to remove."


def test_the_many_processes_that_it_starts_share_what_was_compiled(bare_checkout: Path) -> None:
    run_dev(bare_checkout, "status", PYTHONDONTWRITEBYTECODE="1")
    commands = bare_checkout / "platform" / "local_stack" / "commands"
    assert list(commands.glob("__pycache__/status.*.pyc"))


def test_doctor_looks_at_everything_and_leaves_nothing_behind(bare_checkout: Path) -> None:
    shown = run_dev(bare_checkout, "doctor").stdout
    for word in (
        "Python",
        "written to",
        "disk",
        "memory",
        "GPU",
        "port",
        "sockets",
        "Node",
        "Docker",
        "jobs without containers",
        "--host ray",
    ):
        assert word in shown
    assert not (bare_checkout / ".concertina").exists()


def test_a_checkout_that_cannot_be_written_to_says_so(bare_checkout: Path) -> None:
    """A file in the way of its folder is to everybody what a read-only file system is."""
    (bare_checkout / ".concertina").write_text("")
    told = run_dev(bare_checkout, "up")
    assert told.returncode == 1
    assert "Traceback" not in told.stderr
    assert "The checkout cannot be set up" in told.stdout
    assert "CONCERTINA_HOME" in told.stdout


def test_a_set_up_that_fails_leaves_standard_output_to_programs(bare_checkout: Path) -> None:
    (bare_checkout / ".concertina").write_text("")
    told = run_dev(bare_checkout, "chaos", "--json")
    assert (told.returncode, told.stdout) == (1, "")
    assert "The checkout cannot be set up" in told.stderr
