"""Does a script find the folder of its outputs, on the platform and alone?"""

from __future__ import annotations

from pathlib import Path

import pytest

import concertina_worker as elastic
from concertina_worker.protocol import Env


def test_it_is_the_folder_that_the_platform_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(Env.OUTPUTS, str(tmp_path / "given"))
    assert elastic.outputs() == tmp_path / "given"
    assert (tmp_path / "given").is_dir()


def test_alone_it_is_a_folder_beside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(Env.OUTPUTS, raising=False)
    monkeypatch.chdir(tmp_path)
    assert elastic.outputs() == tmp_path / "outputs"
