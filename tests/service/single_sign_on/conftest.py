"""A real identity provider, and browsers that go there and come back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings as django_settings
from django.http import HttpResponse
from django.test import Client
from pytest_django import Settings
from tenancy.models import Team
from tenancy.single_sign_on.terms import GroupRole, GroupTerms, ProviderTerms

from tests.identity_provider import CLIENT_ID, CLIENT_SECRET, RunningProvider, running

CALLBACK = "http://testserver/sign-in/provider/callback"
ADA = {"preferred_username": "ada", "email": "ada@example.com", "email_verified": True}
TERMS = GroupTerms(
    roles={
        "ml": [GroupRole(team="vision", role="member")],
        "ml-leads": [GroupRole(team="vision", role="lead")],
        "text": [GroupRole(team="language", role="viewer")],
    },
    admin_group="root",
)


@pytest.fixture(scope="session")
def running_provider() -> Iterator[RunningProvider]:
    with running() as ready:
        yield ready


@pytest.fixture
def provider(running_provider: RunningProvider, settings: Settings) -> RunningProvider:
    """It knows Ada, in the group `ml`, and our installation knows it."""
    running_provider.has({"sub-ada": {**ADA, "groups": ["ml"]}}, redirects=[CALLBACK])
    set_up(settings, running_provider, TERMS)
    return running_provider


def set_up(settings: Settings, provider: RunningProvider, terms: GroupTerms, **more: Any) -> None:
    known = ProviderTerms(
        issuer=provider.issuer,
        client_id=CLIENT_ID,
        client_secret=CLIENT_SECRET,
        name="Example",
        redirect_uri=CALLBACK,
        groups=terms,
        **more,
    )
    settings.CONCERTINA = replace(django_settings.CONCERTINA, provider=known)


@pytest.fixture
def teams(vision: Team, language: Team) -> tuple[Team, Team]:
    return vision, language


def come_back(client: Client, provider: RunningProvider, subject: str, **wanted: str) -> str:
    """Go to the provider, sign in there; return the address that it sends the browser to."""
    begun = client.get("/sign-in/provider", wanted)
    assert begun.status_code == 302
    back = provider.sign_in(begun["Location"], subject)
    assert back.startswith(CALLBACK), back
    return back


def sign_in(
    client: Client, provider: RunningProvider, subject: str = "sub-ada", **wanted: str
) -> str:
    """Sign in; return where the browser ends."""
    return finish(client, come_back(client, provider, subject, **wanted))


def finish(client: Client, back: str) -> str:
    parts = urlsplit(back)
    answer: HttpResponse = client.get(f"{parts.path}?{parts.query}")
    assert answer.status_code == 302
    assert answer["Cache-Control"] == "no-store"
    return answer["Location"]


def who(client: Client) -> str | None:
    """Under which name the browser is signed in."""
    answer = client.get("/api/v1/session")
    return answer.json()["user"]["username"] if answer.status_code == 200 else None
