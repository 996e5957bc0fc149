"""Is GET /usage as promised, and does it tell nobody what they may not know?"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from control_plane.configuration.team_visibility import TeamVisibility
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.models import Team

from autoscaler.gpu_accounts.models import ClosedHour, DayLine, GpuPrice, TeamDay
from autoscaler.gpu_accounts.reading.question import MOST_DAYS, MOST_DIVIDED_DAYS
from tests.service.usage.accounts import HOUR, account, close, line

MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC)


@pytest.fixture
def accounts(db: None) -> None:
    """Two days: vision trains digits and, on borrowed GPUs, words; language trains talk."""
    digits = account("digits000001", "vision", "ada", project="digits")
    words = account("words0000001", "vision", "bob", project="=words")
    talk = account("talk00000001", "language", "eve", project="talk")
    lines = []
    for number in range(48):
        hour = MIDNIGHT + number * HOUR
        lines += [
            line(hour, job=digits, guaranteed=4, starting=0.5, stalled=0.25, lost=0.125),
            line(hour, job=words, borrowed=1),
            line(hour, job=talk, guaranteed=1),
            line(hour, team="language", lent=0.5, reserved=0.25, idle=0.25),
            line(hour, team="", idle=1.5),
        ]
    close(lines)


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def ask(api: APIClient, **query: Any) -> dict[str, Any]:
    answer = api.get("/api/v1/usage", query)
    assert answer.status_code == 200, answer.json()
    told: dict[str, Any] = answer.json()
    return told


def held(told: dict[str, Any], *names: str) -> dict[Any, float]:
    """Guaranteed and borrowed GPU-hours by what rows are told apart by."""
    return {
        tuple(row[name] for name in names): row["guaranteed_gpu_hours"] + row["borrowed_gpu_hours"]
        for row in told["items"]
    }


def refused(api: APIClient, **query: Any) -> str:
    answer = api.get("/api/v1/usage", query)
    assert answer.status_code == 400, answer.content
    return str(answer.json())


def test_by_team_all_there_was_is_told(api: APIClient, accounts: None, language: Team) -> None:
    told = ask(api)
    assert (told["since"], told["until"]) == ("2026-11-01T00:00:00Z", "2026-11-03T00:00:00Z")
    vision, speaking, nobody = told["items"]
    assert vision == {
        "team": "vision",
        "guaranteed_gpu_hours": 192.0,
        "borrowed_gpu_hours": 48.0,
        "lent_gpu_hours": 0.0,
        "reserved_gpu_hours": 0.0,
        "idle_gpu_hours": 0.0,
        "training_gpu_hours": 204.0,
        "stalled_gpu_hours": 12.0,
        "starting_gpu_hours": 24.0,
        "lost_work_gpu_hours": 6.0,
        "cost": None,
        "credit": None,
    }
    assert (speaking["team"], speaking["lent_gpu_hours"]) == ("language", 24.0)
    assert (nobody["team"], nobody["idle_gpu_hours"]) == (None, 72.0)
    total = told["total"]
    parts = ("guaranteed", "borrowed", "reserved", "idle")
    assert sum(total[f"{part}_gpu_hours"] for part in parts) == 48 * 8


def test_several_are_told_apart_at_once_by_time_and_then_by_most(
    api: APIClient, accounts: None
) -> None:
    told = ask(api, by="day,user,label:project,job", team="vision")
    assert [(row["day"], row["user"], row["job"], row["job_name"]) for row in told["items"]] == [
        ("2026-11-01", "ada", "digits000001", "train-digits000001"),
        ("2026-11-01", "bob", "words0000001", "train-words0000001"),
        ("2026-11-02", "ada", "digits000001", "train-digits000001"),
        ("2026-11-02", "bob", "words0000001", "train-words0000001"),
    ]
    assert told["items"][0]["labels"] == {"project": "digits"}
    assert told["rows"] == 4


def test_days_and_hours_are_those_of_the_time_zone(api: APIClient, accounts: None) -> None:
    told = ask(
        api,
        by="day",
        since="2026-11-02",
        until="2026-11-03",
        time_zone="Europe/Berlin",
        pool="default",
    )
    assert (told["since"], told["until"]) == ("2026-11-01T23:00:00Z", "2026-11-02T23:00:00Z")
    assert held(told, "day") == {("2026-11-02",): 24 * 6.0}
    told = ask(api, by="hour", since="2026-11-01T00:30Z", until="2026-11-01T02:00Z")
    assert held(told, "hour") == {("2026-11-01T01:00:00+00:00",): 6.0}


@pytest.mark.parametrize(
    ("query", "hours"),
    [
        ({"user": "ada"}, 192.0),
        ({"job": "words0000001"}, 48.0),
        ({"label": "project=digits"}, 192.0),
        ({"label": "project"}, 240.0),
        ({"label": ["project", "project=digits"]}, 192.0),
        ({"pool": "other"}, 0.0),
        ({"user": "ada", "label": "project=no"}, 0.0),
    ],
)
def test_filters_narrow_rows_and_total(
    api: APIClient, accounts: None, query: dict[str, Any], hours: float
) -> None:
    told = ask(api, by="team", **query)
    assert sum(held(told, "team").values()) == hours
    assert told["total"]["guaranteed_gpu_hours"] + told["total"]["borrowed_gpu_hours"] == hours


def test_people_and_jobs_are_told_only_of_teams_whose_jobs_are_seen(
    api: APIClient, foreign_api: APIClient, admin: APIClient, accounts: None
) -> None:
    for by in ("user", "job", "label:project"):
        assert "eve" not in str(told := ask(api, by=f"{by},team"))
        assert {row["team"] for row in told["items"]} == {"vision"}
        assert {row["team"] for row in ask(foreign_api, by=f"{by},team")["items"]} == {"language"}
        assert len(ask(admin, by=f"{by},team")["items"]) == 5
    assert ask(api, user="eve")["items"] == []
    assert ask(api, job="talk00000001")["items"] == []
    assert ask(api, label="project=talk", team="language")["items"] == []


def test_where_teams_are_kept_apart_others_are_shown_together(
    api: APIClient, admin: APIClient, accounts: None, settings: Settings
) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert held(ask(api), "team") == {("vision",): 240.0, ("other teams",): 48.0, (None,): 0.0}
    assert ask(api, team="language")["items"] == []
    assert ask(api, team="language")["total"]["guaranteed_gpu_hours"] == 0
    assert ("language",) in held(ask(admin), "team")


def test_an_admin_sees_teams_that_are_gone(
    admin: APIClient, accounts: None, settings: Settings
) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, teams_see=TeamVisibility.OWN)
    assert not Team.objects.filter(name="language").exists()
    assert ("eve", "language") in held(ask(admin, by="user,team"), "user", "team")


def test_pages_have_each_row_once_though_hours_are_closed_meanwhile(
    api: APIClient, accounts: None
) -> None:
    found, cursor = [], ""
    for number in range(4):
        told = ask(api, by="user,day", limit=1, cursor=cursor)
        found += [(row["day"], row["user"]) for row in told["items"]]
        assert (told["rows"], len(told["items"])) == (4, 1)
        cursor = told["next_cursor"]
        if not number:
            later = account("later0000001", "vision", "amy")
            close_another(later)
    assert cursor is None
    assert found == [
        ("2026-11-01", "ada"),
        ("2026-11-01", "bob"),
        ("2026-11-02", "ada"),
        ("2026-11-02", "bob"),
    ]


def close_another(job: Any) -> None:
    line(MIDNIGHT + 48 * HOUR, job=job, guaranteed=100).save()
    ClosedHour.objects.create(hour=MIDNIGHT + 48 * HOUR, capacities={})


def test_a_table_has_the_same_rows_and_no_formula(api: APIClient, accounts: None) -> None:
    query = {"by": "month,label:project", "format": "csv", "limit": 1}
    answer = api.get("/api/v1/usage", query)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["month"], row["label:project"]) == ("2026-11", "digits")
    assert float(row["guaranteed_gpu_hours"]) == 192.0
    link = answer["Link"].removeprefix("<").removesuffix('>; rel="next"')
    (row,) = csv.DictReader(io.StringIO(api.get(link).content.decode()))
    assert (row["label:project"], row["borrowed_gpu_hours"]) == ("'=words", "48.0")


def test_what_was_held_costs_the_price_of_its_day_and_what_was_lent_is_credited(
    api: APIClient, admin: APIClient, accounts: None
) -> None:
    GpuPrice.objects.create(pool="default", since=date(2020, 1, 1), per_gpu_hour=Decimal("0.5"))
    GpuPrice.objects.create(pool="default", since=date(2026, 11, 2), per_gpu_hour=Decimal(2))
    GpuPrice.objects.create(pool="another", since=date(2026, 11, 1), per_gpu_hour=Decimal(9))
    told = ask(api)
    assert {row["team"]: (row["cost"], row["credit"]) for row in told["items"]} == {
        "vision": (24 * 5 * 0.5 + 24 * 5 * 2, 0.0),
        "language": (24 * 0.5 + 24 * 2, 24 * 0.5 * 0.5 + 24 * 0.5 * 2),
        None: (0.0, 0.0),
    }
    assert (told["total"]["cost"], told["total"]["credit"]) == (360.0, 30.0)
    by_job = ask(admin, by="job", since="2026-11-01T12:00", time_zone="UTC")
    assert by_job["total"]["cost"] == 12 * 6 * 0.5 + 24 * 6 * 2
    table = api.get("/api/v1/usage", {"format": "csv", "team": "vision"}).content.decode()
    assert [row["cost"] for row in csv.DictReader(io.StringIO(table))] == ["300.0"]


def test_what_has_no_price_has_no_cost(api: APIClient, accounts: None) -> None:
    GpuPrice.objects.create(pool="default", since=date(2026, 11, 2), per_gpu_hour=Decimal(2))
    told = ask(api, by="day", team="vision")
    assert [row["cost"] for row in told["items"]] == [None, 240.0]
    assert (told["total"]["cost"], told["total"]["credit"]) == (None, 0.0)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ({"by": "cow"}, "'cow' is none of team, user, pool, job, hour, day, month, label:KEY."),
        ({"by": "team,team"}, "Name each once"),
        ({"by": "label:"}, "Name each once"),
        ({"by": "label:a,label:b,label:c"}, "At most 2 labels"),
        ({"by": "day,month"}, "Choose one of hour, day, month."),
        ({"since": "yesterday"}, "Write a day, as 2026-11-01"),
        ({"since": "0001-01-01T00:00+14:00"}, "Write a day, as 2026-11-01"),
        ({"since": "2026-11-02", "until": "2026-11-02"}, "It has to be later than since."),
        ({"time_zone": "Europe/../etc"}, "This is no time zone."),
        ({"limit": 10_001}, "limit"),
        ({"cursor": "x"}, "cursor"),
        ({"label": ["a", "b", "c"]}, "label"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_to_do(
    api: APIClient, accounts: None, query: dict[str, Any], told: str
) -> None:
    assert told in refused(api, **query)


def test_no_more_is_read_at_once_than_is_allowed(api: APIClient, db: None) -> None:
    job = account("long00000001", "vision", "ada")
    close_long(job)
    assert f"At most {MOST_DAYS} days" in refused(api, since="2020-01-01")
    wide = {"since": "2026-01-01", "time_zone": "Europe/Berlin"}
    assert f"at most {MOST_DIVIDED_DAYS} days" in refused(api, by="day", **wide)
    assert f"at most {MOST_DIVIDED_DAYS} days" in refused(api, by="hour", since="2026-01-01")
    assert ask(api, by="month", **wide)["rows"] == 1
    assert ask(api, by="day", since="2026-01-01")["rows"] == 1


def close_long(job: Any) -> None:
    """From the first to the last of these years hours are closed; of the others nobody asks."""
    one = line(MIDNIGHT, job=job, guaranteed=1)
    one.save()
    DayLine.objects.create(day=MIDNIGHT.date(), owner=one.owner, job=job, guaranteed=one.guaranteed)
    TeamDay.objects.create(
        day=MIDNIGHT.date(), pool="default", team="vision", guaranteed=one.guaranteed
    )
    for hour in (datetime(2020, 1, 1, tzinfo=UTC), MIDNIGHT):
        ClosedHour.objects.create(hour=hour, capacities={})


def test_before_any_hour_is_closed_there_is_nothing(api: APIClient) -> None:
    told = ask(api)
    assert (told["items"], told["rows"], told["since"], told["until"]) == ([], 0, None, None)
    assert api.get("/api/v1/usage", {"format": "csv"}).content.startswith(b"team,guaranteed_")


def test_the_number_of_statements_depends_neither_on_rows_nor_on_the_time(
    api: APIClient, accounts: None
) -> None:
    counts = []
    for query in ({"by": ""}, {"by": "hour,team,user,pool,job,label:project", "user": "ada"}):
        with CaptureQueriesContext(connection) as asked:
            ask(api, **query)
        counts.append(sum("gpu_accounts_" in one["sql"] for one in asked.captured_queries))
    assert counts == [5, 5], "closed hours, teams, prices, lines, how long nobody looked"
