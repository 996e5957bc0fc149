"""Who reads which entries, and how are they found and taken away?"""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.audit import writing
from tenancy.audit.records import AuditRecord
from tenancy.audit.writing import AuditSender
from tenancy.models import AuditOutcome, AuditSenderKind, Membership, Team

AUDIT = "/api/v1/audit"
NOW = timezone.now()


def write(operation: str, target: str, *, team: Team | None = None, hours: float = 0) -> None:
    """An entry of so many hours ago."""
    record = AuditRecord(operation=operation, target=target, after={"=1+1": "x"})
    writing.write(
        record,
        AuditSender(
            kind=AuditSenderKind.TOKEN,
            name="vision/ci",
            address="10.0.0.1",
            token_id=7,
            token_prefix="ct_abcdefg",
            team_id=team.pk if team else None,
        ),
        AuditOutcome.DONE,
        answer=200,
        at=NOW - timedelta(hours=hours),
    )


@pytest.fixture
def entries(vision: Team, language: Team) -> None:
    write("change_quota", "teams/vision/quotas/default", hours=3)
    write("cancel_job", "jobs/j1/cancel", team=language, hours=2)
    write("drain_node", "nodes/node-1/drain", hours=1)
    writing.count(
        AuditRecord(operation="list_members", target="teams/vision/members"),
        AuditSender(address="10.0.0.2"),
        AuditOutcome.REFUSED,
        answer=401,
        at=NOW,
    )


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    return speaking_for(admin_user)


def speaking_for(person: User) -> APIClient:
    client = APIClient()
    client.force_login(person)
    return client


def lead(*teams: Team) -> APIClient:
    person = User.objects.create_user("ada")
    for team in teams:
        Membership.objects.create(user=person, team=team, role=Membership.Role.LEAD)
    return speaking_for(person)


def operations(client: APIClient, **asked: Any) -> list[str]:
    answer = client.get(AUDIT, asked)
    assert answer.status_code == 200, answer.content
    return [item["operation"] for item in answer.json()["items"]]


def test_an_admin_sees_all_and_a_lead_what_is_about_the_team_and_those_below(
    entries: None, admin_api: APIClient, vision: Team, language: Team
) -> None:
    below = Team.objects.create(name="below", parent=vision)
    write("add_member", "teams/below/members")
    everything = ["add_member", "list_members", "drain_node", "cancel_job", "change_quota"]
    assert operations(admin_api) == everything
    assert operations(admin_api, team="language") == ["cancel_job"]
    leading = lead(vision)
    assert operations(leading) == ["add_member", "list_members", "change_quota"]
    assert operations(leading, team="below") == ["add_member"]
    assert leading.get(AUDIT, {"team": "language"}).status_code == 404
    below.delete()
    assert operations(leading) == ["list_members", "change_quota"]


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({"sender": "vision/ci"}, ["drain_node", "cancel_job", "change_quota"]),
        ({"sender": "vision"}, []),
        ({"token": "7"}, ["drain_node", "cancel_job", "change_quota"]),
        ({"token": "ct_abcdefg"}, ["drain_node", "cancel_job", "change_quota"]),
        ({"operation": "cancel_job"}, ["cancel_job"]),
        ({"object": "teams/vision"}, ["list_members", "change_quota"]),
        ({"object": "/nodes/"}, ["drain_node"]),
        ({"object": "teams/vis"}, []),
        ({"object": "teams/%"}, []),
        ({"outcome": "refused"}, ["list_members"]),
        ({"since": (NOW - timedelta(hours=1.5)).isoformat()}, ["list_members", "drain_node"]),
        ({"until": (NOW - timedelta(hours=2)).isoformat()}, ["change_quota"]),
    ],
)
def test_entries_are_found_by_what_they_tell(
    entries: None, admin_api: APIClient, asked: dict[str, str], found: list[str]
) -> None:
    assert operations(admin_api, **asked) == found


@pytest.mark.parametrize(
    "asked", [{"token": "x"}, {"outcome": "x"}, {"limit": 1001}, {"cursor": "x"}, {"since": "x"}]
)
def test_what_is_no_question_is_refused(admin_api: APIClient, asked: dict[str, Any]) -> None:
    assert admin_api.get(AUDIT, asked).status_code == 400


def test_pages_go_on_where_the_last_one_ended(entries: None, admin_api: APIClient) -> None:
    first = admin_api.get(AUDIT, {"limit": 3}).json()
    write("log_in", "session")
    second = admin_api.get(AUDIT, {"limit": 3, "cursor": first["next_cursor"]}).json()
    assert [one["operation"] for one in second["items"]] == ["change_quota"]
    assert second["next_cursor"] is None


def test_a_page_is_one_statement_whatever_its_length(entries: None, admin_api: APIClient) -> None:
    with CaptureQueriesContext(connection) as queries:
        admin_api.get(AUDIT)
    assert sum("auditentry" in one["sql"] for one in queries.captured_queries) == 1


def test_an_entry_tells_how_often_and_about_which_team(
    entries: None, admin_api: APIClient, vision: Team
) -> None:
    for _ in range(2):
        APIClient().get("/api/v1/teams/vision/members", REMOTE_ADDR="10.0.0.9")
    item = admin_api.get(AUDIT, {"operation": "list_members"}).json()["items"][0]
    told = {name: item[name] for name in ("times", "team", "sender_kind", "answer", "outcome")}
    assert told == {
        "times": 2,
        "team": "vision",
        "sender_kind": "unknown",
        "answer": 401,
        "outcome": "refused",
    }
    assert item["last_at"] > item["at"]


def test_a_table_has_no_formula_and_says_where_it_goes_on(
    entries: None, admin_api: APIClient
) -> None:
    write("cancel_job", "=cmd()")
    answer = admin_api.get(AUDIT, {"format": "csv", "limit": 2})
    first, *_ = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (first["operation"], first["target"]) == ("cancel_job", "'=cmd()")
    assert 'rel="next"' in answer.headers["Link"]
    address = answer.headers["Link"].split(">")[0].removeprefix("<")
    rest = list(csv.DictReader(io.StringIO(admin_api.get(address).content.decode())))
    assert [row["operation"] for row in rest] == ["drain_node", "cancel_job"]


def test_who_leads_no_team_sees_nothing(entries: None, api: APIClient, vision: Team) -> None:
    assert api.get(AUDIT).status_code == 403
    member = User.objects.create_user("eve")
    Membership.objects.create(user=member, team=vision, role=Membership.Role.MEMBER)
    assert speaking_for(member).get(AUDIT).status_code == 403
