"""What does the project say of itself? Its requirements, from `pyproject.toml`, and its commit."""

from __future__ import annotations

import subprocess
import tomllib
from typing import Any

from local_stack.checkout import ROOT

_PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def requirements(extra: str | None = None) -> tuple[str, ...]:
    """The requirements of the service itself, or of one of its extras."""
    return tuple(_PROJECT["optional-dependencies"][extra] if extra else _PROJECT["dependencies"])


def revision() -> str:
    """The commit of this checkout; empty outside of one."""
    command = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    return finished.stdout.strip()
