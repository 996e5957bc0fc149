"""Which program installs packages, and from where? uv, else pip, from wherever pip would look."""

from __future__ import annotations

import ast
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from local_stack.set_up.long_step import StepFailed, run_step
from local_stack.set_up.virtual_environment import VirtualEnvironment
from local_stack.terminal import say

UV = "uv==0.13.8"
# Once and on all cores; else each of many processes that start together compiles for itself.
AS_PIP_DOES = {"UV_COMPILE_BYTECODE": "1"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Installer:
    """Installs packages into one virtual environment."""

    program: tuple[str, ...]  # understands what `pip install` does
    folder: Path
    logs: Path
    is_uv: bool
    environment: Mapping[str, str] = field(default_factory=dict)

    def install(self, name: str, *arguments: str) -> None:
        """Run one installation as a step.

        Raises:
            StepFailed: with what the installer said.
        """
        run_step(
            name,
            (*self.program, *arguments),
            log=self.logs / "install.log",
            folder=self.folder,
            environment=self.environment,
        )


def find(venv: VirtualEnvironment, *, logs: Path) -> Installer:
    """uv, put into the environment by pip if it is not there; pip itself where uv cannot be had."""
    pip = Installer(
        program=(str(venv.python), "-m", "pip", "install", "--disable-pip-version-check"),
        folder=venv.folder.parent,
        logs=logs,
        is_uv=False,
    )
    if not venv.uv.exists():
        try:
            pip.install("Installer (uv)", "--quiet", UV)
        except StepFailed:
            say("    not to be had; pip installs instead, which takes longer")
            return pip
    return Installer(
        program=(str(venv.uv), "pip", "install", "--python", str(venv.python)),
        folder=venv.folder.parent,
        logs=logs,
        is_uv=True,
        environment=AS_PIP_DOES | uv_environment(pip_configuration(venv)),
    )


def pip_configuration(venv: VirtualEnvironment) -> dict[str, str]:
    """Return what this machine's owner configured for pip: option name to value."""
    ran = subprocess.run(
        (str(venv.python), "-m", "pip", "config", "list"),
        capture_output=True,
        text=True,
        check=False,
    )
    return parse_configuration(ran.stdout)


def parse_configuration(listing: str) -> dict[str, str]:
    """Read lines such as `global.find-links='/opt/wheels'`; the environment's win over files'."""
    options: dict[str, str] = {}
    lines = sorted(listing.splitlines(), key=lambda line: line.startswith(":env:"))
    for line in lines:
        name, equals, value = line.partition("=")
        if equals:
            options[name.rpartition(".")[2]] = str(ast.literal_eval(value))
    return options


def uv_environment(pip: Mapping[str, str]) -> dict[str, str]:
    """The same in uv's words; what is set for uv itself stays."""
    words = {
        "UV_FIND_LINKS": ",".join(pip.get("find-links", "").split()),
        "UV_DEFAULT_INDEX": pip.get("index-url", ""),
        "UV_EXTRA_INDEX_URL": " ".join(pip.get("extra-index-url", "").split()),
        "UV_INSECURE_HOST": " ".join(pip.get("trusted-host", "").split()),
        "SSL_CERT_FILE": pip.get("cert", ""),
        "UV_HTTP_TIMEOUT": pip.get("default-timeout", pip.get("timeout", "")),
    }
    if words["UV_EXTRA_INDEX_URL"]:
        words["UV_INDEX_STRATEGY"] = "unsafe-best-match"  # pip looks into all of them, too
    return {name: value for name, value in words.items() if value and name not in os.environ}
