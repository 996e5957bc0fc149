"""Do team tokens open what they should, as long as they should?"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access.keys import tokens
from tenancy.models import Team, Token

URL = "/api/v1/jobs"


def status(authorization: str) -> int:
    return APIClient().get(URL, headers={"Authorization": authorization}).status_code


def test_only_a_digest_of_the_key_is_kept(vision: Team) -> None:
    token, key = tokens.issue(team=vision, name="ci")
    assert key.startswith("ct_")
    assert key.startswith(token.prefix)
    assert key not in str(vars(Token.objects.get()))


def test_a_key_opens_and_its_use_is_noted(
    vision: Team, django_capture_on_commit_callbacks: Any
) -> None:
    token, key = tokens.issue(team=vision, name="ci")
    with django_capture_on_commit_callbacks(execute=True):
        assert status(f"Bearer {key}") == 200
    token.refresh_from_db()
    assert token.last_used_at is not None


def test_an_expired_and_a_revoked_key_open_nothing(vision: Team) -> None:
    past, future = timezone.now() - timedelta(1), timezone.now() + timedelta(1)
    _, expired = tokens.issue(team=vision, name="old", expires_at=past)
    token, revoked = tokens.issue(team=vision, name="leaked", expires_at=future)
    assert status(f"Bearer {revoked}") == 200
    assert tokens.revoke(token)
    assert not tokens.revoke(token)
    assert status(f"Bearer {revoked}") == status(f"Bearer {expired}") == 401


@pytest.mark.parametrize("authorization", ["Bearer ct_x", "Bearer", "Bearer \xff", "Basic YTpi"])
def test_what_is_no_key_opens_nothing(db: None, authorization: str) -> None:
    assert status(authorization) == 401
