"""Does a role let people do what it should: in its team, in those below, and nowhere else?"""

from __future__ import annotations

from typing import Any, Final

import pytest
from control_plane.api import operation_check
from control_plane.api.live.reads import OF_THEIR_READER, SECONDS_OF
from control_plane.api.operation_permissions import OPERATIONS
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.access import reach
from tenancy.access.permissions import LEAD, MEMBER, ROLES, VIEWER, Permission, permissions_of
from tenancy.access.principal import principal_of_person
from tenancy.models import Membership, Quota, Team

from jobs.models import Job
from tests.service.conftest import SubmitJob, client_of, spec

STEERED: Final = ("cancel", "pause", "pin", "unpin")


def person(name: str, **roles: str) -> User:
    """Somebody with these roles, by team."""
    made = User.objects.create_user(name)
    for team, role in roles.items():
        Membership.objects.create(user=made, team=Team.objects.get(name=team), role=role)
    return made


def client(user: User) -> APIClient:
    made = APIClient()
    made.force_login(user)
    return made


def submitted(by: User, **changes: Any) -> Job:
    answer = client(by).post("/api/v1/jobs", spec(**changes), format="json")
    assert answer.status_code == 201, answer.json()
    return Job.objects.get(pk=answer.json()["id"])


def cancelled(by: User, job: Job) -> int:
    return client(by).post(f"/api/v1/jobs/{job.id}/cancel").status_code


@pytest.mark.parametrize("weaker", range(len(ROLES) - 1))
def test_each_role_may_do_more_than_the_one_before(weaker: int) -> None:
    assert permissions_of(ROLES[weaker]) < permissions_of(ROLES[weaker + 1])
    assert permissions_of("a role of a later release") == frozenset()


def test_a_member_changes_their_own_jobs_and_a_lead_all(vision: Team, job: Job) -> None:
    ada, bob, lead = (
        person("ada", vision=MEMBER),
        person("bob", vision=MEMBER),
        person("carl", vision=LEAD),
    )
    own = submitted(ada, name="own")
    for verb in STEERED:
        assert client(bob).post(f"/api/v1/jobs/{own.id}/{verb}").status_code == 403
    refused = client(bob).delete(f"/api/v1/jobs/{own.id}")
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert [cancelled(ada, job), cancelled(ada, own), cancelled(lead, job)] == [403, 202, 202]


def test_an_account_of_the_same_name_gets_none_of_the_former_ones_jobs(vision: Team) -> None:
    former = person("ada", vision=MEMBER)
    job = submitted(former)
    former.delete()
    present = person("ada", vision=MEMBER)
    assert job.submitted_by == present.username
    assert cancelled(present, job) == 403


def test_a_token_named_like_a_person_makes_no_job_of_theirs(vision: Team) -> None:
    ada = person("vision/ada", vision=MEMBER)
    made = client_of(vision, name="ada").post("/api/v1/jobs", spec(), format="json").json()
    assert made["submitted_by"] == ada.username
    assert cancelled(ada, Job.objects.get(pk=made["id"])) == 403


def test_a_job_that_runs_again_is_of_whoever_asked_for_that(vision: Team) -> None:
    ada, bob = person("ada", vision=MEMBER), person("bob", vision=MEMBER)
    job = submitted(ada)
    answer = client(bob).post(f"/api/v1/jobs/{job.id}/rerun", {"name": "again"}, format="json")
    again = Job.objects.get(pk=answer.json()["id"])
    assert [cancelled(ada, again), cancelled(bob, again)] == [403, 202]


@pytest.mark.parametrize(
    ("role", "may"),
    [(VIEWER, (False, False)), (MEMBER, (False, True)), (LEAD, (True, True))],
)
def test_a_job_tells_whoever_looks_what_they_may_do_with_it(
    job: Job, role: str, may: tuple[bool, bool]
) -> None:
    told = client(person("ada", vision=role)).get(f"/api/v1/jobs/{job.id}").json()
    assert (told["may_change"], told["may_rerun"]) == may


def test_who_submits_for_nobody_is_told_whom_to_ask(vision: Team, job: Job) -> None:
    viewer = client(person("ada", vision=VIEWER))
    assert viewer.get("/api/v1/session").json()["user"]["submits_for"] == []
    for path, body in (("", spec()), (f"/{job.id}/rerun", {}), (":bulk", {"jobs": [spec()]})):
        answer = viewer.post(f"/api/v1/jobs{path}", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
        assert "lead" in answer.json()["message"]


def test_a_team_may_let_its_members_change_all_jobs(vision: Team, job: Job) -> None:
    Team.objects.create(name="robots", parent=vision)
    lead, member = person("carl", vision=LEAD), person("ada", vision=MEMBER)
    below = submitted(lead, team="robots")
    assert cancelled(member, job) == 403
    switch = {"members_change_all_jobs": True}
    for team in ("vision", "robots"):
        answer = client(lead).patch(f"/api/v1/teams/{team}", switch, format="json")
        assert (answer.status_code, answer.json()["members_change_all_jobs"]) == (200, True)
    assert client(member).patch("/api/v1/teams/vision", switch, format="json").status_code == 403
    more = {**switch, "max_queued_jobs": 9}
    assert client(lead).patch("/api/v1/teams/vision", more, format="json").status_code == 403
    # Whose role comes from above gets no more by what the members of a team grant each other.
    assert [cancelled(member, job), cancelled(member, below)] == [202, 403]


def test_teams_of_the_former_release_go_on_as_they_did(vision: Team, job: Job) -> None:
    member = person("ada", vision=MEMBER)
    assert cancelled(member, job) == 403
    with connection.cursor() as cursor:  # what it has inserted, and what was there before
        cursor.execute("UPDATE tenancy_team SET members_change_all_jobs = DEFAULT")
    assert cancelled(member, job) == 202


def test_a_role_holds_in_all_teams_below_and_in_none_above_or_beside(
    vision: Team, language: Team
) -> None:
    robots = Team.objects.create(name="robots", parent=vision)
    Team.objects.create(name="arms", parent=robots)
    ada = person("ada", robots=LEAD, language=VIEWER)
    held = principal_of_person(ada)
    assert set(held.seen) == {"robots", "arms", "language"}
    assert set(held.teams_where(Permission.MANAGE_MEMBERS)) == {"robots", "arms"}
    assert client(ada).get("/api/v1/teams/vision/secrets").status_code == 404
    assert client(ada).get("/api/v1/teams/arms/secrets").json()["may_set"] is True


def test_the_strongest_of_several_roles_counts(vision: Team) -> None:
    Team.objects.create(name="robots", parent=vision)
    above, below = (
        person("ada", vision=LEAD, robots=VIEWER),
        person("bob", vision=VIEWER, robots=LEAD),
    )
    for user, led in ((above, {"vision", "robots"}), (below, {"robots"})):
        assert set(principal_of_person(user).teams_where(Permission.SET_UP)) == led


def test_whom_a_request_speaks_for_takes_one_statement_however_deep_the_tree(vision: Team) -> None:
    last = vision
    for number in range(10):
        last = Team.objects.create(name=f"below-{number}", parent=last)
    ada = person("ada", vision=MEMBER)
    with CaptureQueriesContext(connection) as asked:
        assert len(principal_of_person(ada).seen) == 11
    assert len(asked) == 1
    with CaptureQueriesContext(connection) as asked:
        assert (ada.pk, last.pk) in reach.places_of([ada.pk])
    assert len(asked) == 1


def test_a_circle_of_teams_which_somebody_made_by_hand_ends(vision: Team, language: Team) -> None:
    Team.objects.filter(pk=vision.pk).update(parent=language)
    Team.objects.filter(pk=language.pk).update(parent=vision)
    ada = person("ada", vision=MEMBER)
    assert set(principal_of_person(ada).seen) == {"vision", "language"}


OF_NAMED_JOBS: Final = {"/api/v1/jobs:compare"}  # those who are to be compared


@pytest.mark.parametrize("read", sorted(SECONDS_OF.keys() - OF_THEIR_READER))
def test_what_is_read_once_for_several_is_the_same_for_every_role(
    read: str, submit: SubmitJob
) -> None:
    job = submit()
    path = read.format(job_id=job.id)
    asked = {"jobs": job.id} if read in OF_NAMED_JOBS else {}
    sent = [client(person(role, vision=role)).get(path, asked) for role in ROLES]
    assert {one.status_code for one in sent} == {200}
    answers = [one.json() for one in sent]
    moving = {"at", "planned_seconds_ago", "position_at", "uptime_seconds"}
    told = [
        {name: value for name, value in answer.items() if name not in moving} for answer in answers
    ]
    assert told[0] == told[1] == told[2]


@pytest.fixture
def robots(vision: Team) -> Team:
    """A team below vision, which is guaranteed four GPUs."""
    return Team.objects.create(name="robots", parent=vision)


ROBOTS: Final = "/api/v1/teams/robots/quotas/default"


def test_a_lead_divides_what_their_team_is_guaranteed(vision: Team, robots: Team) -> None:
    Quota.objects.create(
        team=Team.objects.create(name="arms", parent=vision),
        pool=vision.quotas.get().pool,
        guaranteed_gpus=1,
    )
    lead = client(person("carl", vision=LEAD))
    assert lead.patch(ROBOTS, {"guaranteed_gpus": 3}, format="json").status_code == 200
    refused = lead.patch(ROBOTS, {"guaranteed_gpus": 4}, format="json")
    assert refused.status_code == 400
    assert "Guarantee at most 3" in refused.json()["details"][0]["problem"]


def test_a_lead_of_a_team_without_a_guarantee_promises_nothing(vision: Team, robots: Team) -> None:
    Quota.objects.filter(team=vision).delete()
    lead = client(person("carl", vision=LEAD))
    refused = lead.patch(ROBOTS, {"guaranteed_gpus": 1}, format="json")
    assert refused.status_code == 400
    assert "ask an admin" in refused.json()["details"][0]["problem"]
    assert not Quota.objects.filter(team=robots).exists()
    assert lead.patch(ROBOTS, {"limit_gpus": 2}, format="json").status_code == 200


@pytest.mark.parametrize("roles", [{"robots": LEAD}, {"vision": MEMBER}, {"language": LEAD}, {}])
def test_nobody_else_divides_it(robots: Team, language: Team, roles: dict[str, str]) -> None:
    outsider = client(person("ada", **roles))
    assert outsider.patch(ROBOTS, {"guaranteed_gpus": 0}, format="json").status_code == 403
    for team in ("vision", "nobody"):
        path = f"/api/v1/teams/{team}/quotas/default"
        assert outsider.patch(path, {"guaranteed_gpus": 0}, format="json").status_code == 403


def test_an_operation_of_which_nobody_says_who_may_keeps_the_service_from_starting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operation_check.check_before_serving()
    known = {name: needed for name, needed in OPERATIONS.items() if name != "cancel_job"}
    monkeypatch.setattr(operation_check, "OPERATIONS", {**known, "fly": Permission.SEE})
    assert [one.msg for one in run_checks(tags=["permissions"])] == [
        "Nobody says which permission cancel_job needs.",
        "There is no operation fly.",
    ]
    with pytest.raises(ImproperlyConfigured, match="cancel_job"):
        operation_check.check_before_serving()
