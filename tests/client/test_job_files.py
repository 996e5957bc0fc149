from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from control_plane.web import plain_yaml

from concertina.errors import BadInput
from concertina.input import job_files, overrides, yaml_documents

JOB = """\
name: digits
elastic:
  min_workers: 1
  allowed_workers:
    - 1
    - 2
env: {A: "1"}
"""


def test_each_field_knows_its_line() -> None:
    file = job_files.parse(JOB, "job.yaml")
    places = {
        "name": "job.yaml:1",
        "elastic.min_workers": "job.yaml:3",
        "elastic.allowed_workers[1]": "job.yaml:6",
        "env.A": "job.yaml:7",
    }
    assert {field: file.place(field) for field in places} == places


def test_a_field_that_is_missing_is_placed_where_it_would_stand() -> None:
    file = job_files.parse(JOB, "job.yaml")
    assert file.place("elastic.max_workers") == "job.yaml:2"
    assert file.place("command") == ""


@pytest.mark.parametrize("odd", ["", ".", "[0]", "a..b", "]", "a[", "a[x]", "é.ü"])
def test_a_field_name_out_of_the_ordinary_has_no_place(odd: str) -> None:
    assert job_files.parse(JOB, "job.yaml").place(odd) == ""


BROKEN = {
    "nothing": ("", "is empty"),
    "a list": ("- 1", "must be a mapping of fields"),
    "an open bracket": ("a: [1\nb", "job.yaml, line 2, column 2: while parsing a flow sequence"),
    "a tab": ("a:\n\tb: 1", "line 2, column 1"),
    "a key twice": ("a: 1\nb: 2\na: 3", "line 3, column 1: 'a' stands here and on line 1"),
    "an inner key twice": ("e: {b: 1, b: 2}", "line 1, column 11: 'b' stands"),
    "two documents": ("a: 1\n---\nb: 2", "line 2, column 1"),
    "a key that is a list": ("? [a]\n: 2", "line 1, column 3: a field's name must be a word"),
    "a foreign tag": ("a: !!python/object:os.system x", "line 1, column 4"),
    "a few lines that mean billions": (
        "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
        + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)),
        "this is more than 1000000 values",
    ),
    "a circle": ("a: &x [*x]", "Circular reference"),
    "no number": ("a: .nan", "not JSON compliant"),
    "bytes": ("a: !!binary aGk=", "tags (!!name) are not accepted"),
    "a null character": ("a: \x00", "special characters are not allowed"),
    "a tower": ("a: " + "[" * 3000 + "]" * 3000, "recursion"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_file_is_refused_with_the_place(case: str) -> None:
    text, message = BROKEN[case]
    with pytest.raises(BadInput) as caught:
        job_files.parse(text, "job.yaml")
    assert message in caught.value.message


def test_a_date_stays_text_as_in_json() -> None:
    assert job_files.parse("a: 2026-12-01", "job.yaml").spec == {"a": "2026-12-01"}


def test_words_mean_what_the_service_takes_them_for() -> None:
    text = "[no, 1:30, 010, 0x1F, 1_000, .5, 1e3, True, ~, '1', <<]"
    found = yaml_documents.value_of(text)
    assert found == ["no", "1:30", 10, 31, "1_000", 0.5, 1000.0, True, None, "1", "<<"]
    assert found == plain_yaml.read(text)


@pytest.mark.parametrize("text", ["a: !!bool abc", "a: !!timestamp abc", "a: !!int ''"])
def test_tags_are_refused(text: str) -> None:
    with pytest.raises(BadInput, match="line 1, column 4: tags"):
        job_files.parse(text, "job.yaml")


def test_json_is_read_too() -> None:
    assert job_files.parse('{"name": "x", "priority": 3}', "j").spec == {"name": "x", "priority": 3}


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"a: \xff")
    for name, message in [("missing", "No such file"), ("bytes", "not UTF-8"), ("", "directory")]:
        with pytest.raises(BadInput, match=message):
            job_files.read(str(tmp_path / name))


def test_a_hyphen_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(JOB))
    assert job_files.read("-").place("name") == "standard input:1"


def test_a_relative_workdir_is_meant_from_the_files_folder(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    for workdir, expected in {
        "..": tmp_path,
        "/srv": Path("/srv"),
        "a/b": tmp_path / "jobs/a/b",
    }.items():
        (tmp_path / "jobs" / "job.yaml").write_text(f"workdir: {workdir}")
        assert job_files.read(str(tmp_path / "jobs" / "job.yaml")).spec["workdir"] == str(expected)


OVERRIDES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "a number": (["elastic.max_workers=8"], {"elastic": {"min_workers": 1, "max_workers": 8}}),
    "a text": (["name=other"], {"name": "other"}),
    "a part that was not there": (["batch.global_batch_size.max=9"], {}),
    "a list": (["command=[python, x.py]"], {"command": ["python", "x.py"]}),
    "an equals sign in the value": (["env.A=b=c"], {"env": {"A": "b=c"}}),
    "nothing": (["name="], {"name": ""}),
    "the later wins": (["priority=1", "priority=2"], {"priority": 2}),
}


@pytest.mark.parametrize("case", OVERRIDES)
def test_an_override_changes_one_field(case: str) -> None:
    assignments, expected = OVERRIDES[case]
    spec = {"name": "x", "elastic": {"min_workers": 1}}
    changed = overrides.applied(spec, assignments)
    expected = expected or {"batch": {"global_batch_size": {"max": 9}}}
    assert changed == spec | expected


def test_an_override_leaves_the_original_alone() -> None:
    spec = {"elastic": {"min_workers": 1}}
    overrides.applied(spec, ["elastic.min_workers=2"])
    assert spec == {"elastic": {"min_workers": 1}}


@pytest.mark.parametrize("bad", ["name", "=1", "a..b=1", ".a=1", "name.x=1", "a=[", "a=.inf"])
def test_an_override_that_means_nothing_is_refused(bad: str) -> None:
    with pytest.raises(BadInput, match="--set"):
        overrides.applied({"name": "x"}, [bad])


@pytest.mark.parametrize(
    ("text", "names"),
    [(None, None), ("h100", ["h100"]), ("h100, a100,", ["h100", "a100"]), (",", [])],
)
def test_pools_are_written_with_commas(text: str | None, names: list[str] | None) -> None:
    assert overrides.names_of(text) == names
