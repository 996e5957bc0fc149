"""A team below vision, and what rules and templates of both are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Membership, Team


@pytest.fixture
def robots(vision: Team) -> Team:
    """A team below vision."""
    return Team.objects.create(name="robots", parent=vision)


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def person_in(team: Team, role: str = Membership.Role.LEAD) -> APIClient:
    user = User.objects.create_user(f"{role}-of-{team.name}")
    Membership.objects.create(team=team, user=user, role=role)
    client = APIClient()
    client.force_login(user)
    return client


def rules_of(by: APIClient, team: str = "vision") -> Any:
    answer = by.get(f"/api/v1/teams/{team}/rules")
    assert answer.status_code == 200, answer.json()
    return answer.json()


def set_rules(by: APIClient, team: str = "vision", **parts: Any) -> Any:
    """Change them as whoever has just read them; return the answer."""
    version = parts.pop("version", None) or rules_of(by, team)["version"]
    headers = {"If-Match": f'"{version}"'}
    return by.patch(f"/api/v1/teams/{team}/rules", parts, format="json", headers=headers)


def add_template(by: APIClient, name: str, spec: Any, team: str = "vision") -> Any:
    body = {"name": name, "spec": spec, "description": f"For {name}."}
    return by.post(f"/api/v1/teams/{team}/templates", body, format="json")


def problems(answer: Any) -> dict[str, str]:
    """What is wrong, by field, with what to do."""
    return {one["field"]: f"{one['problem']}. {one['remedy']}" for one in answer.json()["details"]}
