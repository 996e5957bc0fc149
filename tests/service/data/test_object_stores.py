"""Who may make an object store a source of data, and which URLs are none?"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.utils import timezone
from pytest_django import Settings
from rest_framework.test import APIClient
from storage.data import sources
from storage.data.destinations import Destination
from storage.models import DataCopy, DataSource
from tenancy.models import Membership, Team
from tenancy.secrets import team_secrets
from tenancy.secrets.values import variables

from tests.polling import pause

SOURCES = "/api/v1/data-sources"


@pytest.fixture
def lead(vision: Team) -> APIClient:
    """Somebody who leads team vision, which has secret `s3`."""
    person = User.objects.create_user("grace")
    Membership.objects.create(user=person, team=vision, role="lead")
    team_secrets.put(
        team=vision, name="s3", content=variables({"AWS_ACCESS_KEY_ID": "k"}), by="grace"
    )
    client = APIClient()
    client.force_login(person)
    return client


def put(client: APIClient, url: str = "s3://datasets/imagenet", **more: Any) -> Any:
    body = {"kind": "object_store", "url": url, "teams": ["vision"], **more}
    return client.put(f"{SOURCES}/imagenet", body, format="json")


def test_a_lead_adds_one_for_the_teams_that_it_leads(
    lead: APIClient, api: APIClient, language: Team
) -> None:
    answer = put(lead, secret="s3", endpoint="https://s3.example.com")
    assert answer.status_code == 201, answer.json()
    assert DataSource.objects.get().place == {
        "url": "s3://datasets/imagenet",
        "endpoint": "https://s3.example.com",
        "secret": "s3",
        "team": "vision",
    }
    shown = api.get(SOURCES).json()["items"][0]
    assert (shown["url"], shown["secret"], shown["path"]) == ("s3://datasets/imagenet", "s3", "")
    assert put(lead, teams=["vision", "language"]).status_code == 403
    assert put(api).status_code == 403
    DataSource.objects.get().teams.add(language)
    assert put(lead).status_code == 403, "it is not theirs alone any more"
    assert lead.delete(f"{SOURCES}/imagenet").status_code == 403


def test_a_team_has_so_many_that_others_have_room(
    lead: APIClient, vision: Team, language: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MOST_OF_TEAM", 2)
    for name, kind in (("one", "object_store"), ("folder", "folder"), ("two", "output")):
        source = DataSource.objects.create(name=name, kind=kind, place={})
        source.teams.set([vision, language])
    answer = put(lead)
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_sources")
    assert answer.json()["message"].startswith("Team vision has 2 object stores and outputs")
    DataSource.objects.get(name="two").teams.remove(vision)
    assert put(lead).status_code == 201
    assert put(lead).status_code == 200, "it is itself no other one"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_add_one_at_once_the_second_takes_nothing_from_the_first(
    lead: APIClient, language: Team
) -> None:
    def late() -> int:
        try:
            return int(put(lead).status_code)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            sources.one_change_at_a_time()
            answer = pool.submit(late)
            began = time.monotonic()
            while not _somebody_waits():
                assert not answer.done()
                pause(began)
            source = DataSource.objects.create(name="imagenet", kind="object_store", place={})
            source.teams.add(language)
        assert answer.result() == 403
    assert DataSource.objects.get().teams.get() == language


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        return bool(cursor.fetchone()[0])


def test_a_lead_adds_no_folders(lead: APIClient) -> None:
    answer = lead.put(f"{SOURCES}/x", {"path": "/etc", "teams": ["vision"]}, format="json")
    assert answer.status_code == 403


def test_a_secret_has_to_be_there(lead: APIClient) -> None:
    answer = put(lead, secret="other")
    assert answer.status_code == 400
    assert "Team vision has no secret 'other'" in str(answer.json())


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("/srv/data", "is not the URL of a store"),
        ("file:///etc", "is not the URL of a store"),
        ("s3://", "is not the URL of a store"),
        ("s3://bucket/../x y", "has characters"),
        ("s3://b!/x", "is not the name of a bucket"),
        ("https://ada:secret@example.com/x", "may not hold a password"),
        ("https://example.com/x?token=1", "has a ? or a #"),
        ("https://169.254.169.254/latest", "is link-local"),
        ("https://[::ffff:169.254.169.254]/latest", "is link-local"),
        ("https://127.0.0.1/x", "127.0.0.1 is not in CONCERTINA_DATA_NETWORKS"),
        ("https://10.0.0.7/x", "and is private"),
        ("http://8.8.8.8/x", "http is not encrypted"),
        ("https://[::1", "is not a URL"),
    ],
)
def test_urls_that_are_none_are_refused(lead: APIClient, url: str, said: str) -> None:
    answer = put(lead, url)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_source")
    assert said in answer.json()["message"]


def test_an_installation_lets_stores_of_its_own_networks_in(
    lead: APIClient, settings: Settings
) -> None:
    networks = (Destination.parse("10.0.0.0/24"),)
    settings.CONCERTINA = replace(django_settings.CONCERTINA, data_networks=networks)
    assert put(lead, "http://10.0.0.7:9000/x").status_code == 201


def test_words_of_another_kind_and_writing_are_refused(lead: APIClient) -> None:
    assert put(lead, path="/srv").status_code == 400
    assert "can write to folders only" in put(lead, is_writable=True).json()["message"]
    assert (
        "https:// has no endpoint"
        in put(lead, "https://e.com/", endpoint="https://x.com").json()["message"].lower()
    )


def test_what_was_fetched_from_elsewhere_does_not_stay(lead: APIClient) -> None:
    put(lead)
    source, now = DataSource.objects.get(), timezone.now()
    DataCopy.objects.create(
        source=source,
        version="v",
        state="ready",
        bytes=7,
        objects_count=1,
        listed_at=now,
        used_at=now,
    )
    assert put(lead).json()["cached_bytes"] == 7
    assert put(lead, "s3://datasets/coco").json()["cached_bytes"] == 0
