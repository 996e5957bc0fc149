"""Policies of extensions, really loaded from entry points of distributions on the path."""

from __future__ import annotations

import shutil
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autoscaler.installed_policies import ENTRY_POINT_GROUP, installed_policies
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from tests.planning.builders import NOW, cluster, measured, running, summary

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[2] / "examples" / "policy"


@pytest.fixture(autouse=True)
def _found_anew() -> Iterator[None]:
    installed_policies.cache_clear()
    yield
    installed_policies.cache_clear()
    for name in ("thrifty", "broken_extension"):
        sys.modules.pop(name, None)


def distribution(folder: Path, name: str, entry: str) -> None:
    """What an installer leaves behind: metadata and entry points beside the code."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{ENTRY_POINT_GROUP}]\n{entry}\n")


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(EXAMPLE / "thrifty.py", tmp_path)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    ((name, value),) = project["entry-points"][ENTRY_POINT_GROUP].items()
    distribution(tmp_path, "concertina_thrifty", f"{name} = {value}")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_the_example_is_one_more_policy(example: Path) -> None:
    assert installed_policies().names == (*BUILT_IN.names, "thrifty")
    (option,) = installed_policies().options("thrifty")
    assert (option.name, option.default) == ("least_share", 0.8)


def test_the_example_decides(example: Path) -> None:
    job = running(
        "a",
        1,
        started_at=NOW - 10**6,
        measurements=measured((1, 100), (2, 196), (3, 285), (4, 300)),
    )
    state = cluster(job, quotas={}, policy="thrifty:least_share=0.7")
    assert summary(plan(state, installed_policies())) == {"a": "rescale 3"}
    state = cluster(job, quotas={}, policy="thrifty:least_share=0.1")
    assert summary(plan(state, installed_policies())) == {"a": "rescale 4"}


def test_an_extension_that_cannot_be_loaded_is_logged_and_left_out(
    example: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (example / "broken_extension.py").write_text("raise RuntimeError('no licence')\n")
    distribution(example, "broken_extension", "broken = broken_extension:Policy")
    assert installed_policies().names == (*BUILT_IN.names, "thrifty")
    assert "Policy broken of broken_extension:Policy cannot be used." in caplog.text
    assert "no licence" in caplog.text


def test_without_extensions_there_are_the_built_in_policies() -> None:
    assert installed_policies() is BUILT_IN
