"""What does an entry say, what does it cost, and is there one without its change?"""

from __future__ import annotations

import io
import json
import re
from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Node, Pool
from control_plane.tasks import forget_what_is_old
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access.keys import team_tokens
from tenancy.audit import kinds, records, values, writing
from tenancy.audit.records import AuditRecord
from tenancy.audit.writing import AuditSender
from tenancy.errors import TokenNameTaken, TooManyTokens
from tenancy.models import (
    AuditEntry,
    AuditOutcome,
    AuditRepeats,
    AuditSenderKind,
    Quota,
    Team,
    Token,
)

from jobs.models import Job

SIGN_IN = "/api/v1/session"
DONE = AuditOutcome.DONE


def only(**which: Any) -> AuditEntry:
    return AuditEntry.objects.get(**which)


def written(queries: CaptureQueriesContext) -> list[str]:
    """The statements that have to do with the audit log."""
    return [one["sql"] for one in queries.captured_queries if "audit" in one["sql"]]


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def test_a_change_tells_who_what_from_where_and_what_it_was_before(
    admin_api: APIClient, vision: Team, admin_user: User
) -> None:
    answer = admin_api.patch(
        "/api/v1/teams/vision/quotas/default",
        {"guaranteed_gpus": 3},
        format="json",
        REMOTE_ADDR="10.1.2.3",
    )
    assert answer.status_code == 200
    row = only(operation="change_quota")
    assert (row.sender, row.sender_kind, row.person_id) == ("root", "person", admin_user.pk)
    assert (row.address, row.answer, row.outcome) == ("10.1.2.3", 200, DONE)
    assert (row.target, row.team_id) == ("teams/vision/quotas/default", vision.pk)
    assert (row.before["guaranteed_gpus"], row.after["guaranteed_gpus"]) == (4, 3)


def test_a_token_is_told_by_its_name_and_beginning(api: APIClient, job: Job, vision: Team) -> None:
    token = Token.objects.get()
    assert api.post(f"/api/v1/jobs/{job.id}/pause", {"reason": "lunch"}, format="json").status_code
    row = only(operation="pause_job")
    assert (row.sender, row.sender_kind) == ("vision/ci", "token")
    assert (row.token_id, row.token_prefix) == (token.pk, token.prefix)
    assert (row.target, row.team_id) == (f"jobs/{job.id}/pause", vision.pk)
    assert row.after == {"paused": "lunch"}
    assert only(operation="submit_job").target == f"jobs/{job.id}"


def test_a_change_costs_one_statement_and_a_read_none(api: APIClient, job: Job) -> None:
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert api.post(f"/api/v1/jobs/{job.id}/cancel").status_code == 202
    assert len(written(queries)) == 1
    with CaptureQueriesContext(connection) as queries:
        assert api.get(f"/api/v1/jobs/{job.id}").status_code == 200
    assert written(queries) == []
    with CaptureQueriesContext(connection) as queries:
        assert APIClient().get(f"/api/v1/jobs/{job.id}").status_code == 401
    assert len(queries.captured_queries) == 1


def test_a_change_whose_entry_cannot_be_written_is_not_made(api: APIClient, job: Job) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "ALTER TABLE tenancy_auditentry"
            " ADD CHECK (operation <> 'cancel_job' OR outcome <> 'done') NOT VALID"
        )
    with pytest.raises(IntegrityError):
        api.post(f"/api/v1/jobs/{job.id}/cancel")
    job.refresh_from_db()
    assert job.state == "queued"
    assert only(operation="cancel_job").answer == 500


def test_repeated_refusals_of_an_address_are_one_entry_with_a_count(vision: Team) -> None:
    for address, times in (("10.0.0.1", 3), ("10.0.0.2", 1)):
        for _ in range(times):
            answer = APIClient().get("/api/v1/jobs", REMOTE_ADDR=address)
            assert answer.status_code == 401
    rows = AuditEntry.objects.filter(operation="list_jobs")
    counts = {
        row.address: AuditRepeats.objects.get(key=row.repeats_key).times
        for row in rows.filter(outcome=AuditOutcome.REFUSED)
    }
    assert counts == {"10.0.0.1": 3, "10.0.0.2": 1}


def test_another_hour_is_another_entry(db: None) -> None:
    now = timezone.now()
    for at in (now - timedelta(hours=1), now, now):
        writing.count(
            AuditRecord(operation="list_jobs", target="jobs"),
            AuditSender(address="10.0.0.1"),
            AuditOutcome.REFUSED,
            answer=401,
            at=at,
        )
    assert sorted(AuditRepeats.objects.values_list("times", flat=True)) == [1, 2]


def test_a_storm_from_everywhere_fills_no_disk(db: None) -> None:
    known = kinds.KindsOfTheHour(most=2)
    for number in range(10):
        writing.count(
            AuditRecord(operation="list_jobs", target=f"jobs/{number}"),
            AuditSender(address=f"10.0.0.{number}"),
            AuditOutcome.REFUSED,
            answer=401,
            at=timezone.now(),
            kinds=known,
        )
    assert AuditEntry.objects.count() == 3
    rest = only(address="")
    assert (rest.target, AuditRepeats.objects.get(key=rest.repeats_key).times) == ("", 8)


def test_kinds_are_told_apart_anew_in_each_hour() -> None:
    known = kinds.KindsOfTheHour(most=1, of_address=1)
    asked = [
        ("here", "a", 1),
        ("here", "b", 1),
        ("there", "a", 1),
        ("here", "a", 1),
        ("here", "b", 2),
    ]
    found = [known.degree(address, (kind, ""), hour) for address, kind, hour in asked]
    assert found == [0, 1, 2, 0, 0]


def test_a_flood_from_one_address_hides_nobody_else(db: None) -> None:
    known, now = kinds.KindsOfTheHour(), timezone.now()

    def count(outcome: AuditOutcome, sender: AuditSender, operation: str, name: str = "") -> None:
        target = f"teams/vision/{operation}"
        record = AuditRecord(operation=operation, target=target, tried_name=name or None)
        writing.count(record, sender, outcome, answer=401, at=now, kinds=known)

    for number in range(60):
        key = AuditSender(address="10.0.0.1", token_prefix=f"ct_{number}")
        count(AuditOutcome.REFUSED, key, "list_jobs")
    count(AuditOutcome.REFUSED, AuditSender(address="10.0.0.2", token_prefix="ct_x"), "list_jobs")
    person = AuditSender(kind=AuditSenderKind.PERSON, name="ada", address="10.0.0.1")
    count(AuditOutcome.REFUSED, person, "change_quota")
    token = AuditSender(kind=AuditSenderKind.TOKEN, name="vision/ci", address="10.0.0.1")
    count(DONE, token, "upload_data")
    rows = AuditEntry.objects.filter(address="10.0.0.1")
    flood = rows.filter(operation="list_jobs")
    assert flood.count() == kinds.MOST_OF_ADDRESS + 1
    rest = AuditRepeats.objects.get(key=flood.get(token_prefix="").repeats_key)
    assert rest.times == 60 - kinds.MOST_OF_ADDRESS
    assert only(address="10.0.0.2").token_prefix == "ct_x"
    told = {(row.sender, row.target) for row in rows.exclude(operation="list_jobs")}
    assert told == {("ada", "teams/vision/change_quota"), ("vision/ci", "teams/vision/upload_data")}


def test_who_tries_another_team_with_a_key_is_told_to_that_team(
    api: APIClient, language: Team
) -> None:
    address = "/api/v1/teams/language/quotas/default"
    assert api.patch(address, {"guaranteed_gpus": 9}, format="json").status_code in {403, 404}
    row = only(operation="change_quota")
    assert (row.sender, row.team_id) == ("vision/ci", language.pk)


def test_signing_in_and_out_is_told_of_and_a_name_that_nobody_has_is_not(
    admin_user: User,
) -> None:
    browser, right = APIClient(), {"username": "root", "password": "a long password"}
    for tried in ({**right, "password": "wrong"}, {"username": "my-password", "password": "x"}):
        assert browser.post(SIGN_IN, tried, format="json").status_code == 401
    assert browser.post(SIGN_IN, right, format="json").status_code == 200
    assert browser.delete(SIGN_IN).status_code == 204
    rows = AuditEntry.objects.order_by("id")
    assert [(row.operation, row.outcome, row.sender, row.answer) for row in rows] == [
        ("log_in", "refused", "root", 401),
        ("log_in", "refused", "", 401),
        ("log_in", "done", "root", 200),
        ("log_out", "done", "root", 204),
    ]


def test_so_is_signing_in_to_the_administration(admin_user: User) -> None:
    browser, page = Client(), "/admin/login/?next=/admin/"
    browser.post(page, {"username": "root", "password": "wrong"})
    browser.post(page, {"username": "root", "password": "a long password"})
    rows = AuditEntry.objects.order_by("id")
    assert [(row.operation, row.outcome, row.sender) for row in rows] == [
        ("admin:login", "refused", "root"),
        ("admin:login", "done", "root"),
    ]


def test_the_administration_tells_each_field_before_and_after(
    admin_user: User, vision: Team, pool: Pool
) -> None:
    browser, quota = Client(), Quota.objects.get(team=vision)
    browser.force_login(admin_user)
    form = {"team": vision.pk, "pool": pool.pk, "over_quota_weight": 1, "limit_gpus": 6}
    page = f"/admin/tenancy/quota/{quota.pk}"
    answer = browser.post(f"{page}/change/", {**form, "guaranteed_gpus": 2})
    assert answer.status_code == 302, answer.content
    row = only(operation="admin:tenancy_quota_change")
    assert (row.sender, row.outcome, row.team_id) == ("root", DONE, vision.pk)
    assert (row.before, row.after) == ({"guaranteed_gpus": 4}, {"guaranteed_gpus": 2})
    browser.post(f"{page}/change/", {**form, "guaranteed_gpus": -2})
    browser.post(f"{page}/delete/", {"post": "yes"})
    assert only(operation="admin:tenancy_quota_delete").before == {"deleted": "vision in default"}
    assert AuditEntry.objects.count() == 2


def test_the_administration_tells_of_tokens_and_passwords_without_them(
    admin_user: User, vision: Team
) -> None:
    browser = Client()
    browser.force_login(admin_user)
    answer = browser.post("/admin/tenancy/token/add/", {"team": vision.pk, "name": "ci"})
    key = re.search(r"ct_[-\w]{43}", answer.content.decode())
    assert key is not None
    made = Token.objects.get()
    answer = browser.post(
        "/admin/tenancy/token/", {"action": "revoke", "_selected_action": [made.pk]}
    )
    assert answer.status_code == 302
    browser.post(
        "/admin/auth/user/add/",
        {
            "username": "ada",
            "password1": "long-enough-1",
            "password2": "long-enough-1",
            "usable_password": "true",
            **{f"memberships-{one}_FORMS": 0 for one in ("TOTAL", "INITIAL")},
        },
    )
    rows = {row.operation: row for row in AuditEntry.objects.all()}
    assert rows["admin:tenancy_token_add"].after["name"] == "ci"
    revoked = {f"vision/ci {made.prefix}": {"state": "revoked"}}
    assert rows["admin:tenancy_token_changelist"].after == revoked
    assert rows["admin:auth_user_add"].after["username"] == "ada"
    said = repr([(row.before, row.after) for row in rows.values()])
    assert key[0] not in said
    assert "long-enough-1" not in said


def test_what_is_done_with_several_rows_is_told_of_each(
    admin_user: User, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = Client()
    browser.force_login(admin_user)
    names = ["m1", "m2", "m3"]
    nodes = [Node.objects.create(pool=pool, name=name, gpus=1) for name in names]

    def told(action: str) -> AuditEntry:
        chosen = [node.pk for node in nodes]
        form = {"action": action, "_selected_action": chosen}
        assert browser.post("/admin/cluster/node/", form).status_code == 302
        found = AuditEntry.objects.first()
        assert found is not None
        return found

    asked = {"is_schedulable": False, "is_draining": True}
    was = {"is_schedulable": True, "is_draining": False}
    row = told("drain")
    assert (row.before, row.after) == (dict.fromkeys(names, was), dict.fromkeys(names, asked))
    monkeypatch.setattr(records, "MOST_ROWS", 2)
    assert told("uncordon").after == {"m1": was, "m2": was, "(more)": 1}


def test_tokens_of_admins_have_the_bounds_of_others(
    admin_user: User, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser, page = Client(), "/admin/tenancy/token/add/"
    browser.force_login(admin_user)
    for name, said in (("ci", b"ct_"), ("ci", str(TokenNameTaken()).encode())):
        assert said in browser.post(page, {"team": vision.pk, "name": name}).content
    monkeypatch.setattr(team_tokens, "MOST_VALID", 1)
    answer = browser.post(page, {"team": vision.pk, "name": "other"})
    assert str(TooManyTokens()).encode() in answer.content
    with pytest.raises(CommandError, match="Team vision"):
        call_command("bootstrap", team=["vision=4"], nodes=2, stdout=io.StringIO())
    assert Token.objects.count() == 1
    assert only().operation == "admin:tenancy_token_add"


def test_what_bootstrap_makes_is_told_of(db: None) -> None:
    written = io.StringIO()
    call_command("bootstrap", team=["vision=1"], stdout=written)
    token, admin = AuditEntry.objects.order_by("id")
    assert (token.sender, token.sender_kind, token.answer) == ("bootstrap", "service", 0)
    assert token.after["name"] == "bootstrap"
    assert admin.after == {"admin": "admin", "is_new": True}
    made = json.loads(written.getvalue())
    said = repr([token.after, admin.after])
    assert made["tokens"]["vision"] not in said
    assert made["admin"]["password"] not in said


def test_whoever_is_no_admin_and_posts_there_is_told_of(vision: Team) -> None:
    browser = Client()
    browser.force_login(User.objects.create_user("ada"))
    browser.post("/admin/tenancy/team/add/", {"name": "mine"})
    row = only()
    assert (row.operation, row.outcome, row.sender) == ("admin:tenancy_team_add", "refused", "ada")


def test_nobody_changes_or_deletes_an_entry(api: APIClient, job: Job) -> None:
    row = only(operation="submit_job")
    for change in (
        lambda: AuditEntry.objects.update(sender="somebody else"),
        lambda: AuditEntry.objects.all().delete(),
        row.save,
        row.delete,
    ):
        with pytest.raises(DatabaseError, match="only grows"), transaction.atomic():
            change()
    assert only(operation="submit_job").sender == "vision/ci"


def test_what_is_old_is_forgotten_and_that_is_told_of(db: None) -> None:
    for days in (500, 399, 1):
        writing.count(
            AuditRecord(operation="list_jobs", target="jobs"),
            AuditSender(),
            AuditOutcome.REFUSED,
            answer=401,
            at=timezone.now() - timedelta(days=days),
        )
    forget_what_is_old()
    newest, *others = AuditEntry.objects.all()
    assert (newest.operation, newest.sender_kind) == ("forget_audit_entries", "service")
    assert newest.after["entries"] == 1
    assert (len(others), AuditRepeats.objects.count()) == (2, 2)
    forget_what_is_old()
    assert AuditEntry.objects.count() == 3


def test_what_is_young_is_kept_whatever_is_asked(api: APIClient, job: Job) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT tenancy_forget_audit(now(), 5000)")
        assert cursor.fetchone() == (0,)
    assert AuditEntry.objects.exists()


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": "x", "key": "y", "env": {"A": "1"}, "env.LR": "2"}, "(hidden)"),
        ({"env": {}, "key": None}, None),
    ],
)
def test_what_looks_secret_is_hidden(value: dict[str, Any], kept: str | None) -> None:
    found = values.bounded(value)
    assert {inner or None for inner in found.values()} == {kept}


def test_values_are_cut_where_they_are_too_long() -> None:
    assert len(values.bounded("x" * 10_000)) == values.LONGEST_TEXT + 1
    assert values.bounded({"a": ["x" * 190] * 49}) == {"(too long)": ["a"]}
    deep: Any = "x"
    for _ in range(9):
        deep = [deep]
    assert values.bounded(deep) == [[[[["(too deep)"]]]]]
    assert values.bounded([float("nan"), 1.5, True, None]) == ["nan", 1.5, True, None]
