"""Which bodies does POST /jobs take? JSON and YAML that mean what they look like."""

from __future__ import annotations

import json

import pytest
from rest_framework.test import APIClient

from tests.service.conftest import spec

URL = "/api/v1/jobs"


def test_a_spec_may_be_yaml(api: APIClient) -> None:
    text = "name: digits\ncommand: [python, train.py]\nelastic: {max_workers: 2}\n"
    answer = api.post(URL, text, content_type="application/yaml")
    assert answer.status_code == 201
    assert answer.json()["max_workers"] == 2


MALFORMED: dict[str, tuple[str, str | bytes, str]] = {
    "half an object": ("application/json", '{"name": ', "malformed"),
    "a number that is none": ("application/json", '{"priority": NaN}', "malformed"),
    "brackets without end": ("application/json", "[" * 60_000, "malformed"),
    "open YAML": ("application/yaml", "name: [a", "malformed"),
    "YAML that makes objects": ("application/yaml", "!!python/object:os.system {}", "malformed"),
    "YAML aliases that could grow": ("application/yaml", "a: &x [1]\nb: *x", "malformed"),
    "a JSON field given twice": ("application/json", '{"name": "a", "name": "b"}', "malformed"),
    "a YAML field given twice": ("application/yaml", "name: a\nname: b", "malformed"),
    "YAML brackets without end": ("application/yaml", "[" * 5_000, "malformed"),
    "a YAML tag that is no date": ("application/yaml", "priority: !!timestamp abc", "malformed"),
    "a YAML tag that is no truth": ("application/yaml", "priority: !!bool abc", "malformed"),
    "a YAML tag that is no number": ("application/yaml", "priority: !!int ''", "malformed"),
    "a YAML number without end": ("application/yaml", "seed: 0x" + "f" * 5_000, "malformed"),
    "a YAML number that is none": ("application/yaml", "seed: .inf", "malformed"),
    "a YAML name that is no text": ("application/yaml", "env: {1: a}", "malformed"),
    "a number that no float holds": (
        "application/json",
        '{"seed": 1' + "0" * 400 + "}",
        "malformed",
    ),
    "a number beyond all numbers": ("application/json", '{"seed": 1e999}', "malformed"),
    "half a character": ("application/json", '{"\\ud800": "a"}', "malformed"),
    "half a character in YAML": ("application/yaml", 'name: "\\ud800"', "malformed"),
    "a null character": ("application/json", '{"labels": {"a": "b\\u0000"}}', "malformed"),
    "levels without end": ("application/json", '{"env":' * 60 + "1" + "}" * 60, "malformed"),
    "bytes that are no text": ("application/json", b"\xff{}", "malformed"),
}


@pytest.mark.parametrize("sentence", MALFORMED)
def test_a_malformed_body_is_refused(api: APIClient, sentence: str) -> None:
    media_type, body, code = MALFORMED[sentence]
    answer = api.post(URL, body, content_type=media_type)
    assert answer.status_code == 400
    assert answer.json()["code"] == code


def test_a_body_that_is_no_spec_at_all_is_refused(api: APIClient) -> None:
    answer = api.post(URL, [1, 2], format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_spec")


@pytest.mark.parametrize("size", [600_000, 10_000_000])
def test_a_huge_body_is_refused_unread(api: APIClient, size: int) -> None:
    answer = api.post(URL, json.dumps({"name": "x" * size}), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_another_media_type_is_refused(api: APIClient) -> None:
    answer = api.post(URL, "<job/>", content_type="application/xml")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_another_method_is_refused(api: APIClient) -> None:
    answer = api.put(URL, spec(), format="json")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")


def test_yaml_means_what_it_looks_like(api: APIClient) -> None:
    text = """\
name: digits
command: [python, train.py]
deadline: 2127-12-01T08:00:00Z
env: {ANSWER: no, TIME: 1:30, MODE: "0755"}
seed: 010
batch: {global_batch_size: 0x40}
"""
    answer = api.post(URL, text, content_type="application/yaml")
    assert answer.status_code == 201, answer.json()
    told = answer.json()["resolved_spec"]
    assert told["deadline"] == "2127-12-01T08:00:00Z"
    assert told["env"] == {"ANSWER": "no", "TIME": "1:30", "MODE": "0755"}
    assert told["seed"] == 10
    assert told["batch"]["global_batch_size"]["base"] == 64


@pytest.mark.parametrize("text", ["priority: 1:30", "<<: {priority: 3}", "elastic: {<<: {}}"])
def test_yaml_has_no_surprises_of_its_first_version(api: APIClient, text: str) -> None:
    body = f"name: digits\ncommand: [python]\n{text}\n"
    answer = api.post(URL, body, content_type="application/yaml")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_spec")


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml"])
def test_a_mark_of_byte_order_is_no_part_of_a_body(api: APIClient, media_type: str) -> None:
    body = json.dumps(spec()).encode("utf-8-sig")
    assert api.post(URL, body, content_type=media_type).status_code == 201


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml"])
def test_a_body_in_another_encoding_is_refused(api: APIClient, media_type: str) -> None:
    body = json.dumps(spec()).encode("utf-16")
    answer = api.post(URL, body, content_type=f"{media_type}; charset=utf-16")
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert "UTF-8" in answer.json()["message"]
