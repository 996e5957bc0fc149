"""Does a script find its data, on the platform and alone?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import concertina_worker as elastic
from concertina_worker.protocol import Env


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (Env.DATASETS, Env.JOB_ID, "CONCERTINA_DATA_IMAGE_NET"):
        monkeypatch.delenv(name, raising=False)


def test_a_variable_says_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCERTINA_DATA_IMAGE_NET", str(tmp_path))
    assert elastic.data("image-net") == tmp_path


def test_so_does_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "beside").mkdir()
    file = tmp_path / "data.json"
    file.write_text(json.dumps({"image-net": "beside", "coco": str(tmp_path)}))
    monkeypatch.setenv(Env.DATASETS, str(file))
    assert elastic.data("image-net") == tmp_path / "beside", "seen from where the file lies"
    assert elastic.data("coco") == tmp_path
    with pytest.raises(LookupError, match="CONCERTINA_DATA_OTHER"):
        elastic.data("other")


def test_without_any_it_says_what_to_set() -> None:
    with pytest.raises(LookupError) as raised:
        elastic.data("image-net")
    assert "Set CONCERTINA_DATA_IMAGE_NET to its folder, or CONCERTINA_DATASETS" in str(
        raised.value
    )


def test_on_the_platform_it_says_what_the_spec_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(Env.JOB_ID, "job1")
    with pytest.raises(LookupError, match=r"data: \[\{source: image-net\}\]"):
        elastic.data("image-net")


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONCERTINA_DATA_IMAGE_NET", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match=r"gone, where CONCERTINA_DATA_IMAGE_NET says"):
        elastic.data("image-net")


def test_a_broken_file_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.json").write_text("{")
    monkeypatch.setenv(Env.DATASETS, str(tmp_path / "data.json"))
    with pytest.raises(LookupError, match=r"data.json cannot be read"):
        elastic.data("image-net")


def test_the_example_of_the_documentation_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "data" / "data-sources.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "a.png").touch()
    monkeypatch.setenv("CONCERTINA_DATA_IMAGENET", str(tmp_path))
    exec(example, {})  # noqa: S102 - it is ours
    assert capsys.readouterr().out == f"1 samples in {tmp_path}\n"


def test_the_name_is_not_taken_by_a_module() -> None:
    from concertina_worker import wiring  # noqa: PLC0415 - loads all of the library

    assert wiring is not None
    assert callable(elastic.data)
