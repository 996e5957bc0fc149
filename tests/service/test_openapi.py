"""Is the published description of the API true? It is as committed, and answers are as it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
import yaml
from cluster.models import Pool, PrefetchedImage, UtilisationSample
from control_plane.api.schema import view
from django.contrib.auth.models import User
from django.core.management import call_command
from django.utils import timezone
from jsonschema import Draft202012Validator
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.models import Job, MetricPoint
from tests.service.conftest import generation, run, spec

COMMITTED: Final = Path(__file__).parents[2] / "docs" / "openapi.yaml"


def loaded(text: str | bytes) -> dict[str, Any]:
    """By the loader that is written in C; the other takes a second."""
    document: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return document


def test_the_committed_description_is_that_of_the_code(tmp_path: Path, settings: Settings) -> None:
    settings.SESSION_COOKIE_NAME = "concertina_session_local"  # where nothing else is configured
    made = tmp_path / "openapi.yaml"
    call_command("spectacular", file=str(made), validate=True, fail_on_warn=True)
    assert made.read_text() == COMMITTED.read_text(), (
        "run `./manage.py spectacular --file docs/openapi.yaml` and commit the result"
    )


def test_a_process_describes_the_api_once_for_all_who_ask() -> None:
    view.description.cache_clear()
    answers = [APIClient().get(f"/api/v1/schema?version={number}") for number in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    committed = loaded(COMMITTED.read_text())
    assert loaded(answers[1].content)["paths"] == committed["paths"]
    assert view.description.cache_info().misses == 1


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    return loaded(COMMITTED.read_text())


def test_no_parameter_is_described_as_a_text_that_would_be_refused(
    description: dict[str, Any],
) -> None:
    """Null characters are: see `plain_addresses`."""
    for path, operations in description["paths"].items():
        for operation in operations.values():
            for parameter in operation.get("parameters", ()):
                fits = Draft202012Validator(parameter["schema"]).is_valid("\0")
                assert not fits, (path, parameter["name"])


def test_no_word_list_has_a_name_that_nobody_gave_it(description: dict[str, Any]) -> None:
    made_up = {one for one in description["components"]["schemas"] if one.endswith("Choice")}
    assert made_up - {"Choice", "BlankChoice"} == set(), "name it in ENUM_NAME_OVERRIDES"


def check(description: dict[str, Any], path: str, method: str, answer: Any) -> None:
    """Fail unless the description has this status, and the body is of its schema."""
    operation = description["paths"][f"/api/v1/{path}"][method]
    assert str(answer.status_code) in operation["responses"], answer.json()
    declared = operation["responses"][str(answer.status_code)]
    schema = declared["content"]["application/json"]["schema"]
    whole = {"components": description["components"], **schema}
    errors = [
        f"{list(error.path)}: {error.message}"
        for error in Draft202012Validator(whole).iter_errors(answer.json())
    ]
    assert errors == []


@pytest.fixture
def busy(job: Job, pool: Pool, vision: Team) -> Job:
    """A job about which there is something to say at every address."""
    run(job, workers=2)
    generation(job, 1)
    MetricPoint.objects.create(
        job=job,
        at=timezone.now(),
        generation=1,
        step=1,
        epoch=0.5,
        samples=64,
        samples_per_second=10,
        step_seconds=0.1,
        compute_seconds=0.1,
        communication_seconds=0.0,
        learning_rate=0.1,
        values={"loss": None, "accuracy": 0.5},
    )
    UtilisationSample.objects.create(
        pool=pool, team=vision, at=timezone.now(), gpus=2, guaranteed_gpus=4
    )
    return job


READ: Final = [
    "jobs",
    "jobs/{job_id}",
    "jobs/{job_id}/events",
    "jobs/{job_id}/generations",
    "jobs/{job_id}/workers",
    "jobs/{job_id}/metrics",
    "jobs/{job_id}/logs",
    "jobs/{job_id}/explain",
    "teams",
    "teams/{name}",
    "pools",
    "cluster/utilisation",
    "cluster/summary",
    "health",
]


@pytest.mark.parametrize("path", READ)
def test_what_is_read_is_as_described(
    api: APIClient, busy: Job, description: dict[str, Any], path: str
) -> None:
    address = path.format(job_id=busy.id, name="vision")
    answer = api.get(f"/api/v1/{address}")
    assert answer.status_code == 200
    check(description, path, "get", answer)


@pytest.mark.parametrize("path", [path for path in READ if path != "health"])
def test_refusals_are_as_described(
    api: APIClient, busy: Job, description: dict[str, Any], path: str
) -> None:
    address = path.format(job_id=busy.id, name="vision")
    check(description, path, "get", APIClient().get(f"/api/v1/{address}"))
    if "{" in path:
        missing = path.format(job_id="zzz", name="nobody")
        check(description, path, "get", api.get(f"/api/v1/{missing}"))


def test_what_only_admins_read_is_as_described(
    admin_user: User, api: APIClient, pool: Pool, description: dict[str, Any]
) -> None:
    PrefetchedImage.objects.create(pool=pool, notes={"node-1": ""})
    check(description, "prefetched-images", "get", api.get("/api/v1/prefetched-images"))
    api.force_authenticate(admin_user)
    answer = api.get("/api/v1/prefetched-images")
    assert answer.status_code == 200
    check(description, "prefetched-images", "get", answer)


def test_what_is_written_is_answered_as_described(
    api: APIClient, busy: Job, description: dict[str, Any]
) -> None:
    for body in (spec(name="new"), spec(name="new"), spec(colour="red"), [1]):
        answer = api.post("/api/v1/jobs", body, format="json")
        check(description, "jobs", "post", answer)
        answer = api.post("/api/v1/jobs:validate", body, format="json")
        check(description, "jobs:validate", "post", answer)
    for verb in ("resume", "pause", "cancel"):
        answer = api.post(f"/api/v1/jobs/{busy.id}/{verb}")
        check(description, f"jobs/{{job_id}}/{verb}", "post", answer)


def test_the_described_spec_is_the_one_that_is_accepted(description: dict[str, Any]) -> None:
    schema = {
        "components": description["components"],
        "$ref": "#/components/schemas/JobSpec",
    }
    validator = Draft202012Validator(schema)
    full = spec(
        team="vision",
        elastic={"max_workers": 4, "min_interval": "5m"},
        resources={"memory": "64GiB"},
        batch={"global_batch_size": 64, "per_gpu_batch_size": {"max": 32}},
        max_restarts=2,
    )
    assert list(validator.iter_errors(spec())) == []
    assert [error.message for error in validator.iter_errors(full)] == []
    assert list(validator.iter_errors(spec(colour="red"))) != []


def test_every_operation_has_a_name_a_summary_and_errors(description: dict[str, Any]) -> None:
    names = []
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            names.append(operation["operationId"])
            assert operation["summary"], (path, method)
            if operation["operationId"] != "get_health":
                assert "401" in operation["responses"], (path, method)
    assert len(names) == len(set(names))


def test_every_operation_tells_how_often_it_may_be_asked(description: dict[str, Any]) -> None:
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            if operation["operationId"] in {"get_health", "log_in"}:
                continue
            answers = operation["responses"]
            refused = {"$ref": "#/components/responses/TooManyRequests"}
            assert answers["429"] == refused, (path, method)
            assert answers["503"]["$ref"].startswith("#/components/responses/"), (path, method)
            good = next(answers[code] for code in answers if code.startswith("2"))
            assert "RateLimit-Remaining" in good["headers"], (path, method)
            if "requestBody" in operation:
                assert {"408", "413"} <= set(answers), (path, method)
    told = description["components"]["responses"]["TooManyRequests"]["headers"]
    parts = ("Limit", "Remaining", "Reset", "Policy")
    assert set(told) == {*(f"RateLimit-{part}" for part in parts), "Retry-After"}
