"""Is POST /jobs:validate as promised?"""

from __future__ import annotations

from rest_framework.test import APIClient

from jobs.models import Job
from tests.service.conftest import spec

URL = "/api/v1/jobs:validate"


def test_a_good_spec_is_resolved_and_nothing_is_submitted(api: APIClient) -> None:
    answer = api.post(URL, spec(), format="json")
    assert answer.status_code == 200
    assert answer.json()["problems"] == []
    assert answer.json()["resolved_spec"]["team"] == "vision"
    assert not Job.objects.exists()


def test_a_bad_spec_is_an_answer_not_an_error(api: APIClient) -> None:
    answer = api.post(URL, spec(priorty=3), format="json")
    assert answer.status_code == 200
    assert answer.json()["resolved_spec"] is None
    assert answer.json()["problems"][0]["remedy"] == "Did you mean priority?"


def test_notes_tell_what_is_not_wrong_but_worth_knowing(api: APIClient) -> None:
    sent = spec(elastic={"max_workers": 100})
    del sent["batch"]
    notes = " ".join(api.post(URL, sent, format="json").json()["notes"])
    assert "the global batch is 32" in notes
    assert "33, 34, 35" in notes
    assert "max_workers needs 100 GPUs; pool default has 8" in notes


def test_nobody_validates_without_a_token(db: None) -> None:
    assert APIClient().post(URL, spec(), format="json").status_code == 401


def test_another_method_is_refused(api: APIClient) -> None:
    assert api.get(URL).status_code == 405
