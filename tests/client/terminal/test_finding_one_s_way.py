"""The verbs with which one begins, compares and goes on in the browser."""

from __future__ import annotations

from pathlib import Path

import pytest

from concertina.commands.completion import completed_names
from concertina.commands.submitting.init import _name_of
from concertina.views.job.difference import differing_fields
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi


@pytest.fixture
def two_jobs(concertina: CommandLine, job_file: Path) -> None:
    assert concertina("submit", "-f", job_file).exit_code == 0
    changes = ("--set", "name=wide", "--set", "elastic.max_workers=8", "--set", "labels.net=big")
    assert concertina("submit", "-f", job_file, *changes).exit_code == 0


def test_whoami_names_the_service_the_team_and_where_both_come_from(
    concertina: CommandLine, api: RunningApi, token_of: dict[str, str]
) -> None:
    found = concertina("whoami", "-o", "json").document
    assert found == {
        "url": api.url,
        "person": None,
        "teams": ["vision"],
        "from": "CONCERTINA_URL and CONCERTINA_TOKEN",
        "context": None,
    }
    assert "vision" in concertina("whoami").out
    assert concertina("login", api.url, "--token", token_of["language"]).exit_code == 0
    stored = CommandLine(
        environment={"XDG_CONFIG_HOME": concertina.environment["XDG_CONFIG_HOME"]}
    )("whoami", "-o", "json").document
    assert stored["teams"] == ["language"]
    assert stored["from"].endswith("credentials.json")


def test_two_jobs_are_compared_field_by_field(concertina: CommandLine, two_jobs: None) -> None:
    found = concertina("diff", "digits", "wide", "-o", "json").document
    values = {field["field"]: field["values"] for field in found["fields"]}
    assert values["elastic.max_workers"] == [4, 8]
    assert values["labels.net"] == [None, "big"]
    assert "command" not in values
    shown = concertina("diff", "digits", "wide").out
    assert "elastic.max_workers" in shown
    assert "queued" in shown
    assert concertina("diff", "digits", "nothing").exit_code == 4


def test_a_job_compared_with_itself_is_the_same(concertina: CommandLine, two_jobs: None) -> None:
    assert "the same" in concertina("diff", "digits", "digits").out


def test_fields_are_compared_to_any_depth_and_lists_whole() -> None:
    first = {"a": {"b": {"c": 1}}, "list": [1, 2], "gone": {}, "same": {"x": None}}
    second = {"a": {"b": {"c": 2, "d": 3}}, "list": [1, 3], "same": {"x": None}}
    assert differing_fields(first, second) == {
        "a.b.c": [1, 2],
        "a.b.d": [None, 3],
        "gone": [{}, None],
        "list": [[1, 2], [1, 3]],
    }


def test_a_job_s_page_has_an_address(
    concertina: CommandLine, api: RunningApi, two_jobs: None
) -> None:
    job = Job.objects.get(name="wide")
    assert concertina("open", "wide", "--print").out == f"{api.url}/jobs/{job.id}\n"
    assert concertina("open", "--print", "-o", "json").document == {"url": f"{api.url}/"}
    assert concertina("open", "nothing", "--print").exit_code == 4


def test_a_first_job_file_is_accepted_as_written(concertina: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "2026"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')")
    file = folder / "job.yaml"
    assert concertina("init", file).exit_code == 0
    checked = concertina("submit", "-f", file)
    assert checked.exit_code == 0, checked.err
    assert Job.objects.get().name == "2026"
    written = file.read_text()
    again = concertina("init", file)
    assert (again.exit_code, file.read_text()) == (2, written)
    assert "is there already" in again.err


@pytest.mark.parametrize("name", ["", "a b", "a: b", "x\ny"])
def test_a_first_job_file_takes_no_name_that_would_be_refused(
    concertina: CommandLine, tmp_path: Path, name: str
) -> None:
    assert concertina("init", tmp_path / "job.yaml", "--name", name).exit_code == 2
    assert not (tmp_path / "job.yaml").exists()


@pytest.mark.parametrize(
    ("folder", "name"), [("my project", "my-project"), ("..", "first-job"), (".x", "x")]
)
def test_a_folder_s_name_becomes_a_job_s(folder: str, name: str) -> None:
    assert _name_of(Path(folder)) == name


def test_names_of_jobs_are_completed(
    concertina: CommandLine, two_jobs: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in concertina.environment.items():
        monkeypatch.setenv(name, value)
    assert completed_names("di") == ["digits"]
    assert completed_names("") == ["wide", "digits"]
    assert completed_names("vision/w") == ["vision/wide"]
    assert completed_names("language/w") == []
    monkeypatch.setenv("CONCERTINA_URL", "http://127.0.0.1:1")
    assert completed_names("di") == []
