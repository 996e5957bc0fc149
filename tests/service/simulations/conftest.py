"""Nobody carries out what is asked for but the test, and an admin asks."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from tenancy.models import Team


@pytest.fixture(autouse=True)
def no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("autoscaler.simulation.api.tasks.ask", lambda: None)


def signed_in(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user)
    return client


@pytest.fixture
def admin(admin_user: User, vision: Team, language: Team) -> APIClient:
    return signed_in(admin_user)
