"""Is the source in order? Linters, types, import contracts, and every test."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.set_up.node import find_npm
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import coloured, duration, say

BIN = Path(sys.executable).parent
LINTERS: dict[str, tuple[str, ...]] = {
    "ruff check": (str(BIN / "ruff"), "check", "."),
    "ruff format": (str(BIN / "ruff"), "format", "--check", "."),
    "mypy": (str(BIN / "mypy"),),
    "import contracts": (str(BIN / "lint-imports"),),
}
SERVERS = {"DATABASE_URL", "REDIS_URL"}
MOST_PROCESSES = 6  # each has a database and perhaps a Docker daemon; more would not be done sooner
# Enough for Django's settings to load; nothing connects.
SETTINGS_FOR_TYPES = {
    "DATABASE_URL": "postgresql://nobody@/nothing",
    "REDIS_URL": "unix:///nowhere",
    "CONCERTINA_SECRET_KEY": "only-to-check-types",
}


def test(checkout: Checkout, arguments: Sequence[str]) -> int:
    """Run pytest; meanwhile lint, and try the dashboard alone.

    What fails of these is named once more behind pytest's closing line, where it is seen.
    """
    with ThreadPoolExecutor() as pool:
        meanwhile = {
            "linting": pool.submit(lint, checkout),
            "the dashboard's own tests": pool.submit(_test_dashboard, checkout),
        }
        code = run_pytest(checkout, (*_side_by_side(), *arguments))
    failed = [name for name, done in meanwhile.items() if done.result()]
    if failed:
        say(coloured(f"✗ Failed beside pytest, see above: {', '.join(failed)}", "red"))
    return int(bool(code or failed))


def run_pytest(checkout: Checkout, arguments: Sequence[str]) -> int:
    """Run pytest and return its exit code."""
    command = (sys.executable, "-m", "pytest", *arguments)
    return subprocess.run(command, cwd=checkout.root, check=False).returncode


def _side_by_side() -> tuple[str, ...]:
    """Two pytest processes for each core: half of the time their tests wait.

    But they cannot share servers.
    """
    processes = min(2 * (os.cpu_count() or 1), MOST_PROCESSES)
    return () if SERVERS & os.environ.keys() else ("-n", str(processes))


def lint(checkout: Checkout) -> int:
    """Run all linters side by side; their output is shown if they complain."""
    began = time.monotonic()
    running = {
        name: subprocess.Popen(
            command,
            cwd=checkout.root,
            env={**os.environ, **SETTINGS_FOR_TYPES},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for name, command in LINTERS.items()
    }
    failed = [name for name, process in running.items() if not _is_content(name, process)]
    if not failed:
        say(f"✓ {', '.join(LINTERS)} ({duration(time.monotonic() - began)})")
    return int(bool(failed))


def _is_content(name: str, process: subprocess.Popen[str]) -> bool:
    output, _ = process.communicate()
    if process.returncode == 0:
        return True
    say(coloured(f"✗ {name}", "red"))
    say(output.rstrip())
    return False


def _test_dashboard(checkout: Checkout) -> int:
    frontend = checkout.root / "frontend"
    if not (frontend / "node_modules").exists():
        say("- The dashboard's own tests are skipped: it could not be built here")
        return 0
    npm = find_npm(VirtualEnvironment(folder=checkout.root / ".venv"), logs=checkout.logs_dir)
    if npm is None:
        return 0
    for script in ("lint", "test"):
        command = (*npm.command, "run", "--silent", script)
        environment = {**os.environ, **npm.environment}
        ran = subprocess.run(command, cwd=frontend, env=environment, check=False)
        if ran.returncode != 0:
            return 1
    return 0
