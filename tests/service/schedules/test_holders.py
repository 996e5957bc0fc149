"""A schedule keeps the right with which it was made, and stops when that is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from cluster.models import Pool
from django.contrib.auth.models import User
from rest_framework.test import APIClient
from schedules.models import RunState, TeamSchedule
from tenancy.access.keys import personal_tokens, team_tokens, tokens
from tenancy.access.principal import principal_of_person
from tenancy.models import Membership, PersonalToken, Team, Token
from webhooks.models import WebhookDelivery

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import client_of, spec
from tests.service.schedules.conftest import PATH, add_by, go_when_due, wanted
from tests.service.webhooks.conftest import add as add_webhook

ONE = f"{PATH}/nightly"


def person(name: str, team: Team, role: str = "member") -> User:
    made = User.objects.create_user(name, password="a long password")
    Membership.objects.create(user=made, team=team, role=role)
    return made


def by_token(of: User, *, scopes: list[str] | None = None, name: str = "laptop") -> APIClient:
    scopes = ["submit", "manage-jobs"] if scopes is None else scopes
    _, key = personal_tokens.make(of, name, days=30, longest_days=30, scopes=scopes)
    return with_key(key)


def with_key(key: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def logged_in(of: User) -> APIClient:
    client = APIClient()
    client.force_login(of)
    return client


def stopped(schedule: TeamSchedule) -> str:
    """Why it paused itself when it was due."""
    run = go_when_due(schedule)
    assert run.state == RunState.REFUSED
    assert not Job.objects.exists()
    schedule.refresh_from_db()
    assert schedule.is_paused
    return schedule.paused_because


@pytest.fixture
def ada(vision: Team) -> User:
    return person("ada", vision)


def test_it_submits_in_the_name_of_whoever_added_it(ada: User) -> None:
    go_when_due(add_by(by_token(ada)))
    job = Job.objects.get()
    assert (job.submitted_by, job.person_id) == ("ada", ada.pk)


def test_it_stops_when_the_personal_token_is_revoked_and_the_team_is_told(
    ada: User, vision: Team
) -> None:
    add_webhook(vision, "https://example.com")
    schedule = add_by(by_token(ada))
    personal_tokens.revoke(PersonalToken.objects.get())
    assert "personal token with which ada" in stopped(schedule)
    kinds = set(WebhookDelivery.objects.values_list("kind", flat=True))
    assert kinds == {"schedule_refused", "schedule_paused"}


def test_whoever_answers_for_it_is_told_when_their_token_expires(ada: User) -> None:
    client = by_token(ada)
    ends = f"{PersonalToken.objects.get().expires_at:%Y-%m-%d}"
    (note,) = client.post(PATH, wanted(), format="json").json()["notes"]
    assert ends in note
    session = logged_in(ada)
    session.post(f"{ONE}/pause")
    assert session.post(f"{ONE}/resume").json()["notes"] == []
    client.post(f"{ONE}/pause")
    assert client.post(f"{ONE}/resume").json()["notes"] == [note]


def test_it_stops_when_the_personal_token_has_expired(ada: User) -> None:
    schedule = add_by(by_token(ada))
    PersonalToken.objects.update(expires_at="2020-01-01T00:00:00Z")
    assert "expired" in stopped(schedule)


def test_it_stops_when_the_person_leaves_the_team(ada: User) -> None:
    schedule = add_by(by_token(ada))
    Membership.objects.all().delete()
    assert "ada may not submit jobs in team vision now" in stopped(schedule)


def test_it_stops_when_the_person_becomes_a_viewer(ada: User) -> None:
    schedule = add_by(logged_in(ada))
    Membership.objects.update(role="viewer")
    assert "may not submit" in stopped(schedule)


@pytest.mark.parametrize("is_deleted", [True, False])
def test_it_stops_when_the_account_is_gone_or_off(ada: User, *, is_deleted: bool) -> None:
    schedule = add_by(logged_in(ada))
    if is_deleted:
        ada.delete()
        User.objects.create_user("ada")
    else:
        User.objects.update(is_active=False)
    assert "account of ada is gone" in stopped(schedule)


def test_it_stops_when_the_teams_token_is_revoked(vision: Team) -> None:
    schedule = add_by(client_of(vision))
    tokens.revoke(Token.objects.get())
    assert "Token vision/ci was revoked" in stopped(schedule)


@pytest.mark.parametrize("overlap", [timedelta(0), timedelta(hours=1)])
def test_it_follows_a_teams_token_that_is_rotated_again_and_again(
    vision: Team, ada: User, overlap: timedelta
) -> None:
    schedule = add_by(client_of(vision), overlap="allow")
    lead = principal_of_person(User.objects.create_superuser("root"))
    for _ in range(2):
        last = Token.objects.order_by("-pk")[0]
        team_tokens.rotate(lead, vision, last, overlap=overlap, days=1, longest_days=90)
    assert go_when_due(schedule).state == RunState.SUBMITTED
    tokens.revoke(Token.objects.order_by("-pk")[0])
    Token.objects.filter(revoked_at=None).update(expires_at="2020-01-01T00:00:00Z")
    run = go_when_due(schedule)
    assert run.state == RunState.REFUSED


def test_it_follows_a_personal_token_that_another_login_replaces(ada: User) -> None:
    schedule = add_by(by_token(ada))
    personal_tokens.make(ada, "laptop", days=30, longest_days=30, replaces=True)
    assert go_when_due(schedule).state == RunState.SUBMITTED


def test_a_token_of_the_same_name_that_is_made_anew_is_another(vision: Team, ada: User) -> None:
    schedule = add_by(by_token(ada))
    personal_tokens.revoke(PersonalToken.objects.get())
    by_token(ada)
    assert "revoked" in stopped(schedule)


def test_a_narrower_token_that_replaces_it_gives_only_what_it_may(ada: User) -> None:
    schedule = add_by(by_token(ada))
    personal_tokens.make(ada, "laptop", days=1, longest_days=30, scopes=["read"], replaces=True)
    assert "may not submit" in stopped(schedule)


# Who may do what with one.


@pytest.mark.parametrize("scopes", [["read"], ["manage-jobs"], ["manage-team"], []])
def test_without_the_scope_submit_nothing_is_added_changed_resumed_or_run(
    ada: User, pool: Pool, scopes: list[str]
) -> None:
    add_by(logged_in(ada))
    narrow = by_token(ada, scopes=scopes)
    code = 404 if not scopes else 403
    changed = {"spec": spec(command=["other"])}
    assert narrow.post(PATH, wanted(name="b"), format="json").status_code == code
    answer = narrow.patch(ONE, changed, format="json", HTTP_IF_MATCH="1")
    assert answer.status_code == code, answer.json()
    assert narrow.patch(ONE, {"cron": "1 2 * * *"}, format="json").status_code == code
    for verb in ("resume", "run"):
        assert narrow.post(f"{ONE}/{verb}").status_code == code
    assert not Job.objects.exists()
    assert TeamSchedule.objects.get().version == 1


def test_a_key_of_scope_manage_jobs_pauses_and_deletes(ada: User) -> None:
    add_by(logged_in(ada))
    narrow = by_token(ada, scopes=["manage-jobs"])
    assert narrow.post(f"{ONE}/pause", {"reason": "holidays"}, format="json").status_code == 200
    assert TeamSchedule.objects.get().paused_because == "Paused by ada: holidays"
    assert narrow.delete(ONE).status_code == 204
    assert not TeamSchedule.objects.exists()


def test_another_member_sees_it_and_changes_nothing(ada: User, vision: Team) -> None:
    add_by(logged_in(ada))
    bob = logged_in(person("bob", vision))
    shown = bob.get(ONE).json()
    assert (shown["may_change"], shown["may_run"], shown["holder"]) == (False, True, "ada")
    assert bob.patch(ONE, {}, format="json", HTTP_IF_MATCH="1").status_code == 403
    for verb in ("pause", "resume"):
        answer = bob.post(f"{ONE}/{verb}")
        assert answer.status_code == 403
        assert "submits for ada" in answer.json()["message"]
    assert bob.delete(ONE).status_code == 403


def test_another_member_runs_it_in_their_own_name(ada: User, vision: Team) -> None:
    add_by(logged_in(ada))
    bob = logged_in(person("bob", vision))
    answer = bob.post(f"{ONE}/run")
    assert answer.status_code == 201, answer.json()
    assert Job.objects.get().submitted_by == "bob"
    assert TeamSchedule.objects.get().holder == "ada"


def test_whoever_changes_the_spec_or_resumes_it_answers_for_it(ada: User, vision: Team) -> None:
    schedule = add_by(logged_in(ada), overlap="allow")
    lead = logged_in(person("lee", vision, role="lead"))
    answer = lead.patch(ONE, {"cron": "0 4 * * *"}, format="json", HTTP_IF_MATCH="1")
    assert answer.json()["holder"] == "ada"
    answer = lead.patch(ONE, {"spec": spec(seed=1)}, format="json", HTTP_IF_MATCH="2")
    assert answer.json()["holder"] == "lee"
    go_when_due(schedule)
    assert Job.objects.get().submitted_by == "lee"
    lead.post(f"{ONE}/pause")
    TeamSchedule.objects.update(person_id=ada.pk, holder="ada")
    assert logged_in(ada).post(f"{ONE}/resume").json()["holder"] == "ada"


def test_a_member_does_not_replace_a_job_of_another(ada: User, vision: Team) -> None:
    schedule = add_by(logged_in(ada), overlap="replace")
    go_when_due(schedule)
    bob = logged_in(person("bob", vision))
    answer = bob.post(f"{ONE}/run")
    assert answer.status_code == 403
    assert "may not cancel" in answer.json()["message"]
    assert Job.objects.get().state == JobState.QUEUED


def test_a_key_of_scope_submit_has_no_jobs_cancelled_by_the_right_of_a_session(ada: User) -> None:
    schedule = add_by(logged_in(ada))
    narrow = by_token(ada, scopes=["submit"])
    go_when_due(schedule)
    answer = narrow.patch(ONE, {"overlap": "replace"}, format="json", HTTP_IF_MATCH="1")
    assert answer.status_code == 403
    assert "manage-jobs" in answer.json()["message"]
    both = {"overlap": "replace", "spec": spec()}  # it submits by that key from then on
    assert narrow.patch(ONE, both, format="json", HTTP_IF_MATCH="1").status_code == 200
    assert go_when_due(schedule).state == RunState.REFUSED
    assert Job.objects.get().state == JobState.QUEUED


def test_a_key_of_scope_submit_pauses_and_deletes_nothing(ada: User) -> None:
    add_by(logged_in(ada))
    narrow = by_token(ada, scopes=["submit"])
    for answer in (narrow.post(f"{ONE}/pause"), narrow.delete(ONE)):
        assert answer.status_code == 403
        assert "manage-jobs" in answer.json()["message"]
    assert narrow.get(ONE).json()["may_change"] is False
    assert not TeamSchedule.objects.get().is_paused


def test_a_foreign_team_is_not_there(ada: User, language: Team) -> None:
    add_by(logged_in(ada))
    foreign = client_of(language)
    assert foreign.get(PATH).status_code == 404
    assert foreign.get(ONE).status_code == 404
    assert foreign.post(PATH, wanted(), format="json").status_code == 404
    assert foreign.post(f"{ONE}/run").status_code == 404
