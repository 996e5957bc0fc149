"""Are /teams/{team}/images and /image-rules as promised, and are jobs held to the rules?"""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import ImageRule, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import registry_login

from tests.service.conftest import client_of, in_docker, spec

RULES = "/api/v1/image-rules"
TEAM = "/api/v1/teams/vision/images"
OURS = "localhost/concertina-worker:7"


@pytest.fixture(autouse=True)
def containers(settings: Settings) -> None:
    """An installation whose workers are containers."""
    in_docker(settings, CONCERTINA_WORKER_IMAGE=OURS)


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def submitted(client: APIClient, image: str, name: str = "digits") -> Any:
    return client.post("/api/v1/jobs", spec(name=name, image=image), format="json")


def test_without_rules_only_the_platforms_own_image_is_run(api: APIClient) -> None:
    answer = submitted(api, "python:3.11")
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_spec")
    (problem,) = answer.json()["details"]
    assert (problem["field"], problem["value"]) == ("image", "python:3.11")
    assert problem["problem"] == "is not among the images that team vision may use"
    assert problem["remedy"] == f"Use one of: {OURS}; or ask an admin for a rule."
    checked = api.post("/api/v1/jobs:validate", spec(image="python:3.11"), format="json").json()
    assert checked["problems"] == [problem]
    assert submitted(api, OURS).status_code == 201
    assert submitted(api, "a b").json()["details"][0]["problem"] == "is not an image's name"


def test_rules_hold_for_a_team_for_those_below_it_or_for_everybody(
    api: APIClient, foreign_api: APIClient, vision: Team
) -> None:
    ImageRule.objects.create(team=vision, pattern="registry.local/vision/*")
    ImageRule.objects.create(team=None, pattern="docker.io/library/python")
    below = client_of(Team.objects.create(name="robots", parent=vision))
    for client in (api, below):
        assert submitted(client, "registry.local/vision/train:1").status_code == 201
    refused = submitted(foreign_api, "registry.local/vision/train:1")
    assert refused.status_code == 422
    assert "registry.local/vision" not in refused.json()["details"][0]["remedy"]
    assert submitted(foreign_api, "python:3.11").status_code == 201
    assert api.get(TEAM).json() == {
        "runs_images": True,
        "platform_image": OURS,
        "patterns": ["docker.io/library/python", "registry.local/vision/*"],
    }
    assert foreign_api.get(TEAM).status_code == 404
    assert APIClient().get(TEAM).status_code == 401


def test_an_admin_adds_lists_and_deletes_rules(
    admin_api: APIClient, api: APIClient, vision: Team
) -> None:
    made = admin_api.post(RULES, {"pattern": "Python:3.*", "team": "vision"}, format="json")
    assert made.status_code == 400, "upper case names no image"
    made = admin_api.post(RULES, {"pattern": "python:3.*", "team": "vision"}, format="json")
    assert (made.status_code, made.json()["pattern"]) == (201, "docker.io/library/python:3.*")
    admin_api.post(RULES, {"pattern": "registry.local/*"}, format="json")
    page = admin_api.get(RULES, {"limit": 1}).json()
    assert [one["team"] for one in page["items"]] == ["vision"]
    rest = admin_api.get(RULES, {"after": page["next_after"]}).json()
    assert [(one["team"], one["pattern"]) for one in rest["items"]] == [(None, "registry.local/*")]
    assert rest["next_after"] is None
    assert submitted(api, "python:3.11").status_code == 201
    assert admin_api.delete(f"{RULES}/{made.json()['id']}").status_code == 204
    assert admin_api.delete(f"{RULES}/{made.json()['id']}").status_code == 404
    assert submitted(api, "python:3.11", name="second").status_code == 422


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "pattern"),
        ({"pattern": ["python"]}, "pattern"),
        ({"pattern": "*.local/x"}, "pattern"),
        ({"pattern": "a" * 401}, "pattern"),
        ({"pattern": "registry.local/*", "team": "nobody"}, "team"),
        ([], ""),
    ],
)
def test_a_rule_that_cannot_be_is_refused(admin_api: APIClient, body: Any, field: str) -> None:
    answer = admin_api.post(RULES, body, format="json")
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == field
    assert not ImageRule.objects.exists()


def test_the_same_rule_is_refused_twice(admin_api: APIClient, vision: Team) -> None:
    for team in (None, "vision"):
        body = {"pattern": "python", "team": team}
        codes = [admin_api.post(RULES, body, format="json").status_code for _ in range(2)]
        assert codes == [201, 400]


def test_only_admins_see_and_change_rules(api: APIClient) -> None:
    rule = ImageRule.objects.create(pattern="registry.local/*")
    assert api.get(RULES).status_code == 403
    assert api.post(RULES, {"pattern": "x"}, format="json").status_code == 403
    assert api.delete(f"{RULES}/{rule.pk}").status_code == 403
    assert APIClient().get(RULES).status_code == 401
    assert api.put(RULES).status_code == 405


def test_the_administration_writes_patterns_in_full(admin_user: User, vision: Team) -> None:
    browser = Client()
    browser.force_login(admin_user)
    page = browser.post("/admin/tenancy/imagerule/add/", {"team": "", "pattern": "*.local/x"})
    assert "has a star in its registry" in page.content.decode()
    browser.post("/admin/tenancy/imagerule/add/", {"team": vision.pk, "pattern": "python"})
    assert ImageRule.objects.get().pattern == "docker.io/library/python"
    assert "python" in browser.get("/admin/tenancy/imagerule/").content.decode()


def test_a_login_is_in_use_while_a_live_job_has_an_image_of_its_registry(
    api: APIClient, vision: Team
) -> None:
    ImageRule.objects.create(pattern="registry.local/*")
    login = registry_login(registry="registry.local", username="u", password="p")
    team_secrets.put(team=vision, name="images", content=login, by="tests")
    assert submitted(api, "registry.local/train").status_code == 201
    refused = api.delete("/api/v1/teams/vision/secrets/images")
    assert (refused.status_code, refused.json()["code"]) == (409, "secret_in_use")


def test_who_comes_second_at_the_same_moment_is_told_so(
    admin_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = ImageRule.full_clean

    def check_then_be_late(self: ImageRule) -> None:
        check(self)
        ImageRule.objects.create(pattern=self.pattern, team=self.team)

    monkeypatch.setattr(ImageRule, "full_clean", check_then_be_late)
    answer = admin_api.post(RULES, {"pattern": "x.example.com/*"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
