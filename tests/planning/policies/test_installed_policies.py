"""Policies of extensions, really loaded from entry points of distributions on the path."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.planner import plan
from autoscaler.planning.policies import BUILT_IN
from tests.extension import distribution, install_example, policies_found_anew
from tests.planning.builders import NOW, cluster, measured, running, summary

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _found_anew() -> Iterator[None]:
    with policies_found_anew():
        yield


@pytest.fixture
def example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return install_example(tmp_path, monkeypatch)


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
