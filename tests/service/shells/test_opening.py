"""Who may have a shell beside which worker, and how many are there at most?"""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest
from cluster.process_host.kind import ProcessKind
from cluster.ray_host.kind import RayKind
from control_plane.api.shells import endpoint
from control_plane.api.shells.stream import ShellOutput
from control_plane.configuration.shell_settings import ShellSettings
from control_plane.shells import mailbox
from control_plane.shells.orders import mark
from django.conf import settings as django_settings
from django.contrib.auth.models import User
from pytest_django import Settings
from rest_framework.test import APIClient
from tenancy.access.keys import personal_tokens
from tenancy.models import AuditEntry, Membership, Team

from autoscaler.control_loop.wakeup_flag import redis_client
from jobs.models import Job, Worker
from jobs.worker_phase import WorkerPhase

ON = ShellSettings(teams=frozenset({"vision"}), idle_seconds=60, longest_seconds=600)


@pytest.fixture(autouse=True)
def on(settings: Settings) -> None:
    settings.CONCERTINA = replace(django_settings.CONCERTINA, shells=ON)


@pytest.fixture(autouse=True)
def never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads the answers here, so no order is given."""
    monkeypatch.setattr(ShellOutput, "events", lambda self: iter((self.order.text().encode(),)))


def member(team: Team, role: str, name: str = "ada", *, scopes: Any = None) -> APIClient:
    user, _ = User.objects.get_or_create(username=name)
    Membership.objects.get_or_create(team=team, user=user, defaults={"role": role})
    more = {} if scopes is None else {"scopes": scopes}
    _, key = personal_tokens.make(user, name="cli", days=1, longest_days=10, **more)
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return client


def ask(client: APIClient, job: Job, **body: Any) -> Any:
    return client.post(f"/api/v1/jobs/{job.id}/shells", body, format="json")


def test_a_lead_enters_jobs_of_the_team_and_a_member_their_own(
    job: Job, workers: list[Worker], vision: Team
) -> None:
    lead, ada = member(vision, "lead", "lea"), member(vision, "member")

    assert ask(lead, job).status_code == 200
    refused = ask(ada, job)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    Job.objects.filter(pk=job.pk).update(person_id=User.objects.get(username="ada").pk)
    assert ask(ada, job).status_code == 200


def test_others_see_nothing_or_may_nothing(
    job: Job, workers: list[Worker], vision: Team, api: APIClient, foreign_api: APIClient
) -> None:
    viewer = member(vision, "viewer", "vic")
    reader = member(vision, "lead", "lea", scopes=["read"])

    assert [ask(one, job).status_code for one in (foreign_api, api, viewer, reader)] == [
        404,
        403,
        403,
        403,
    ]


def test_where_they_are_not_on_it_is_said_how_to_turn_them_on(
    job: Job, workers: list[Worker], vision: Team, settings: Settings
) -> None:
    off = replace(ON, teams=frozenset({"language"}))
    settings.CONCERTINA = replace(django_settings.CONCERTINA, shells=off)
    answer = ask(member(vision, "lead"), job)

    assert answer.status_code == 409
    assert "CONCERTINA_SHELL_TEAMS=vision" in answer.json()["message"]


def test_a_ray_cluster_says_what_to_do_instead(
    job: Job, workers: list[Worker], vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ProcessKind, "why_no_shells", RayKind.why_no_shells)
    answer = ask(member(vision, "lead"), job)

    assert answer.status_code == 409
    assert "Log in to its node" in answer.json()["message"]


@pytest.mark.parametrize(("wanted", "index"), [("", 0), ("1", 1), ("{id}", 1)])
def test_a_worker_is_named_by_rank_or_id(
    job: Job, workers: list[Worker], vision: Team, wanted: str, index: int
) -> None:
    answer = ask(member(vision, "lead"), job, worker=wanted.format(id=workers[1].id))

    assert f'"worker": "{workers[index].id}"' in b"".join(answer.streaming_content).decode()


def test_a_worker_that_is_gone_is_refused_and_the_others_are_named(
    job: Job, workers: list[Worker], vision: Team
) -> None:
    Worker.objects.filter(pk=workers[1].pk).update(phase=WorkerPhase.GONE)
    answer = ask(member(vision, "lead"), job, worker="1")

    assert answer.status_code == 409
    assert answer.json()["message"] == f"digits has no worker 1 now. It has {workers[0].id}."


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"command": ["x" * 9000, "y" * 9000]}, "has more than 16384 bytes"),
        ({"command": ["", "x"]}, "begins with no program"),
        ({"command": ["true"] * 1001}, "no more than 1000"),
        ({"worker": "../1"}, "match"),
        ({"rows": 0}, "greater than or equal to 1"),
        ({"env": {}}, "env"),
    ],
)
def test_what_is_too_much_or_unknown_is_named(
    job: Job, workers: list[Worker], vision: Team, body: dict[str, Any], problem: str
) -> None:
    answer = ask(member(vision, "lead"), job, **body)

    assert answer.status_code == 400
    assert problem in str(answer.json())


def test_a_job_a_person_and_all_have_so_many(
    job: Job, workers: list[Worker], vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    leads = [member(vision, "lead", name) for name in ("lea", "leo")]
    answers = [ask(leads[0], job).status_code for _ in range(4)]
    refused = [ask(one, job) for one in leads]

    assert answers == [200] * 4
    assert [one.status_code for one in refused] == [429, 429]
    assert "This job has 4 shells" in refused[1].json()["message"]


def test_the_beginning_is_in_the_audit_log_and_a_refusal_as_well(
    job: Job, workers: list[Worker], vision: Team, api: APIClient
) -> None:
    ask(member(vision, "lead", "lea"), job, command=["grep", "a b", ""])
    ask(api, job)
    done, refused = AuditEntry.objects.filter(operation="open_shell").order_by("id")

    assert (done.sender, done.address, done.after["command"]) == (
        "lea",
        "127.0.0.1",
        "grep 'a b' ''",
    )
    assert (refused.outcome, refused.answer) == ("refused", 403)


def write(client: APIClient, job: Job, shell: str, **body: Any) -> Any:
    address = f"/api/v1/jobs/{job.id}/shells/{shell}/input"
    return client.post(address, {"number": 1, **body}, format="json")


def test_only_who_opened_a_shell_writes_to_it_and_only_so_much(
    job: Job, workers: list[Worker], vision: Team
) -> None:
    lea, leo = member(vision, "lead", "lea"), member(vision, "lead", "leo")
    redis, shell = redis_client(), "a" * 32
    holder = mark(f"user {User.objects.get(username='lea').pk}", job.id)
    assert write(lea, job, shell).status_code == 404
    redis.set(mailbox.held(shell), holder, ex=60)

    assert write(leo, job, shell).status_code == 404
    for number in range(1, endpoint.MOST_INPUTS + 1):
        assert write(lea, job, shell, number=number).status_code == 204
    assert write(lea, job, shell, number=99).status_code == 429
    assert redis.llen(mailbox.inputs(shell)) == endpoint.MOST_INPUTS
    too_much = base64.b64encode(b"x" * 32769).decode()
    assert write(lea, job, shell, content=too_much).status_code == 400
    assert write(lea, job, shell, content="no base64!").status_code == 400


def test_a_shell_is_written_to_by_the_job_that_its_holder_entered(
    job: Job, workers: list[Worker], vision: Team
) -> None:
    """By another one somebody could keep a shell beside a job that they may enter no longer."""
    lea, redis, shell = member(vision, "lead", "lea"), redis_client(), "c" * 32
    holder = f"user {User.objects.get(username='lea').pk}"
    redis.set(mailbox.held(shell), mark(holder, "another"), ex=60)

    assert write(lea, job, shell).status_code == 404


def test_who_is_told_to_wait_gives_a_sign_of_life(
    job: Job, workers: list[Worker], vision: Team
) -> None:
    lea, redis, shell = member(vision, "lead", "lea"), redis_client(), "d" * 32
    holder = mark(f"user {User.objects.get(username='lea').pk}", job.id)
    redis.set(mailbox.held(shell), holder, ex=60)
    redis.rpush(mailbox.inputs(shell), *["x"] * endpoint.MOST_INPUTS)

    assert write(lea, job, shell).status_code == 429
    assert redis.ttl(mailbox.heard(shell)) > 50
