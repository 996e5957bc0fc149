"""Is POST /jobs:validate as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Pool
from rest_framework.test import APIClient
from tenancy.models import FairShareSettings

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


def test_patience_that_a_claim_of_another_team_cuts_short_is_told(api: APIClient) -> None:
    patient = spec(elastic={"grace_period": "1h", "registration_timeout": "2m"})
    notes = api.post(URL, patient, format="json").json()["notes"]
    assert [note.partition(",")[0] for note in notes] == [
        "elastic.grace_period is 1h",
        "elastic.registration_timeout is 2m",
    ]
    assert "within 1m (reclaim_seconds)" in notes[0]
    FairShareSettings.objects.create(pool=Pool.objects.get(), reclaim_seconds=3600)
    assert api.post(URL, patient, format="json").json()["notes"] == []
    FairShareSettings.objects.update(reclaim_seconds=300)
    (note,) = api.post("/api/v1/jobs", patient, format="json").json()["notes"]
    assert "elastic.grace_period is 1h" in note


def test_nobody_validates_without_a_token(db: None) -> None:
    assert APIClient().post(URL, spec(), format="json").status_code == 401


def test_another_method_is_refused(api: APIClient) -> None:
    assert api.get(URL).status_code == 405


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"deadline": "9999-12-31T23:59:59-23:59"}, "deadline"),
        ({"deadline": "0001-01-01T00:00:00+23:59"}, "deadline"),
        ({"deadline": "4000-01-01T00:00:00Z"}, "deadline"),
    ],
)
def test_what_no_database_keeps_is_named(
    api: APIClient, changes: dict[str, Any], field: str
) -> None:
    answer = api.post(URL, spec(**changes), format="json")
    assert answer.status_code == 200
    assert [one["field"] for one in answer.json()["problems"]] == [field]


def test_a_null_character_anywhere_is_named_by_its_place(api: APIClient) -> None:
    sent = spec(elastic={"scale_on": {"metric": "\0", "grow_above": 1}}, command=["a", "b\0"])
    answer = api.post(URL, sent, format="json")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")
    places = {one["field"] for one in answer.json()["details"]}
    assert places == {"elastic.scale_on.metric", "command[1]"}
