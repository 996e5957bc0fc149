"""An extension with a policy of its own, as an installer leaves it: the one of examples/policy."""

from __future__ import annotations

import shutil
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autoscaler.installed_policies import ENTRY_POINT_GROUP, installed_policies

EXAMPLE = Path(__file__).parents[1] / "examples" / "policy"


@contextmanager
def policies_found_anew() -> Iterator[None]:
    """Nothing that was found before, or within, is remembered."""
    installed_policies.cache_clear()
    yield
    installed_policies.cache_clear()
    for name in ("thrifty", "broken_extension"):
        sys.modules.pop(name, None)


def install_example(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put the example's policy `thrifty` and its entry point on the path."""
    shutil.copy(EXAMPLE / "thrifty.py", folder)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"][ENTRY_POINT_GROUP].items()
    distribution(folder, "concertina_thrifty", f"{name} = {value}")
    monkeypatch.syspath_prepend(folder)
    return folder


def distribution(folder: Path, name: str, entry: str, *, group: str = ENTRY_POINT_GROUP) -> None:
    """What an installer leaves behind: metadata and entry points beside the code."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")
