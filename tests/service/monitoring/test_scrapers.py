"""Who may read metrics, and what are others told?"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

import pytest
from control_plane.web.repeated.shared_reads import SHARED
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from tests.service.monitoring.scraped import KEY, scrape, scraper


def asked(key: str = "") -> tuple[int, str]:
    client = APIClient()
    if key:
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    answer = client.get("/metrics")
    return answer.status_code, answer.json()["message"]


@pytest.mark.django_db
def test_whoever_has_no_key_is_told_which_one_it_takes() -> None:
    for key in ("", f"{KEY}x", "ct_of-a-team", "ä"):
        status, message = asked(key)
        assert (status, "a key of CONCERTINA_METRICS_KEYS" in message) == (401, True)


@pytest.mark.django_db
def test_without_any_key_an_installation_says_that_one_has_to_be_set(settings: Settings) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, metrics_keys=())
    for key in ("", KEY):
        status, message = asked(key)
        assert (status, "set CONCERTINA_METRICS_KEYS" in message) == (401, True)


@pytest.mark.django_db
def test_each_of_several_keys_opens(settings: Settings) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, metrics_keys=("former" * 5, KEY))
    assert scrape()


def test_admins_look_at_metrics_in_a_browser_and_others_are_told_whom_they_are_for(
    admin_user: User, vision: Team
) -> None:
    client = APIClient()
    client.force_login(admin_user)
    assert scrape(client)
    lead = User.objects.create_user("lead")
    Membership.objects.create(user=lead, team=vision, role=Membership.Role.LEAD)
    client.force_login(lead)
    answer = client.get("/metrics")
    assert answer.status_code == 403
    assert "for admins" in answer.json()["message"]
    assert "concertina_jobs" not in answer.content.decode()


def test_two_scrapers_at_once_cost_as_much_as_one(
    vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SHARED, "_questions", OrderedDict())
    monkeypatch.setattr(SHARED, "seconds", 1000.0)
    first = scrape()
    with CaptureQueriesContext(connection) as captured:
        second = scrape(scraper())
    assert (second, len(captured)) == (first, 0)
