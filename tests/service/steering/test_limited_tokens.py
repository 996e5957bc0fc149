"""Does a token that is limited to pools or labels reach such jobs alone, whatever it tries?"""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, Final

import pytest
from cluster.models import Node, Pool
from control_plane.api.logs import followed_grants
from control_plane.api.logs.followed_grants import FollowedGrants, GrantState
from control_plane.web.repeated.shared_reads import SHARED
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from storage.models import HeldCheckpoint
from tenancy.access.grants import Grant, grant_of, grants_of
from tenancy.access.keys import personal_tokens, tokens
from tenancy.access.permissions import LEAD
from tenancy.access.principal import TokenUser, principal_of_user
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import AuditEntry, PersonalToken, Secret, Team, Token

from jobs.models import Job, JobArray, JobTemplate, TeamRules
from jobs.spec.names import MOST_ENTRIES
from tests.service.access.test_roles import client, person
from tests.service.conftest import SubmitJob, run, spec

JOBS: Final = "/api/v1/jobs"
TOKENS: Final = "/api/v1/teams/vision/tokens"
LABELS: Final = {"project": "digits"}


@pytest.fixture
def other_pool(db: None) -> Pool:
    made = Pool.objects.create(name="a100")
    Node.objects.create(pool=made, name="node-9", gpus=4)
    return made


@pytest.fixture
def lead(vision: Team) -> APIClient:
    return client(person("carl", vision=LEAD))


@pytest.fixture
def limited(vision: Team) -> APIClient:
    """A pipeline that may do with jobs of pool default and of one project what tokens may."""
    return limited_to(vision, pools=("default",), labels=tuple(LABELS.items()))


def limited_to(team: Team, **bounds: Any) -> APIClient:
    scopes = ["read", "submit", "manage-jobs"]
    _, key = tokens.issue(team=team, name="limited", scopes=scopes, bounds=TokenBounds(**bounds))
    return bearer(key)


def bearer(key: str) -> APIClient:
    made = APIClient()
    made.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    return made


def sent(by: APIClient, path: str = JOBS, body: Any = None, **changes: Any) -> tuple[int, Any]:
    answer = by.post(path, spec(**changes) if body is None else body, format="json")
    return answer.status_code, answer.json()


def problems(answer: tuple[int, Any]) -> list[tuple[str, str]]:
    status, told = answer
    assert (status, told["code"]) == (422, "token_limit")
    return [(one["field"], one["problem"]) for one in told["details"]]


WHAT_IT_IS: Final = "(jobs in pool default with label project=digits)"


def test_what_it_submits_gets_its_labels_and_belongs_to_its_pools(
    limited: APIClient, other_pool: Pool
) -> None:
    status, made = sent(limited, labels={"seed": "1"})
    assert status == 201, made
    stored = Job.objects.get(pk=made["id"])
    assert stored.labels == stored.resolved_spec["labels"] == {"project": "digits", "seed": "1"}
    wrong = {"pool": "a100", "labels": {"project": "other"}}
    assert problems(sent(limited, name="wrong", **wrong)) == [
        ("pool", f"is not one that this token is limited to {WHAT_IT_IS}"),
        ("labels.project", f"is not digits, which this token is limited to {WHAT_IT_IS}"),
    ]
    (problem, _) = limited.post(
        f"{JOBS}:validate", spec(name="wrong", **wrong), format="json"
    ).json()["problems"]
    assert problem["remedy"] == "Say pool: default, or use another token."


def test_so_does_each_job_of_a_bulk_and_of_an_array_and_a_job_that_is_run_again(
    limited: APIClient,
) -> None:
    bulk = {"jobs": [spec(name="one"), spec(name="two", labels={"project": "other"})]}
    found = problems(sent(limited, f"{JOBS}:bulk", bulk))
    assert [field for field, _ in found] == ["jobs[1].labels.project"]
    assert not Job.objects.exists()
    array = {"spec": spec(name="a", env={"S": "{{s}}"}, array={"parameters": {"s": [1, 2]}})}
    status, made = sent(limited, f"{JOBS}:bulk", array)
    assert status == 201, made
    assert [job.labels for job in Job.objects.all()] == [LABELS, LABELS]
    again = f"{JOBS}/{made['items'][0]['id']}/rerun"
    assert sent(limited, again, {"name": "again"})[0] == 201
    assert Job.objects.get(name="again").labels == LABELS
    assert problems(sent(limited, again, {"name": "more", "labels": {"project": "x"}}))


def test_what_its_token_says_comes_before_templates_and_defaults_of_its_team(
    limited: APIClient, vision: Team, other_pool: Pool
) -> None:
    TeamRules.objects.create(
        team=vision, defaults={"pool": "a100", "labels": {"project": "other", "stage": "test"}}
    )
    JobTemplate.objects.create(
        team=vision, name="usual", spec={"labels": {"project": "usual"}}, version=1
    )
    for number, said in enumerate(({}, {"template": "usual"}, {"labels": {"seed": "1"}})):
        status, made = sent(limited, name=f"job-{number}", **said)
        assert status == 201, made
        stored = Job.objects.select_related("pool").get(pk=made["id"])
        assert (stored.pool.name, stored.labels["project"]) == ("default", "digits")
        assert stored.labels["stage"] == "test"
    assert problems(sent(limited, name="wrong", labels={"project": "other"}))


def test_its_labels_count_among_those_that_a_spec_may_have(limited: APIClient) -> None:
    status, told = sent(limited, labels={f"l{number}": "1" for number in range(MOST_ENTRIES)})
    assert (status, told["details"][0]["field"]) == (422, "labels")


@pytest.mark.parametrize("path", [JOBS, f"{JOBS}:bulk"])
def test_a_key_that_somebody_else_sent_tells_it_nothing_of_their_jobs(
    limited: APIClient, api: APIClient, path: str
) -> None:
    body = spec() if path == JOBS else {"jobs": [spec()]}

    def said(by: APIClient, key: str) -> tuple[int, Any]:
        answer = by.post(path, body, format="json", HTTP_IDEMPOTENCY_KEY=key)
        return answer.status_code, answer.json()

    foreign = said(api, "their")[1]
    status, told = said(limited, "their")
    assert (status, told["code"]) == (409, "idempotency_conflict")
    assert str(foreign.get("id") or foreign["items"][0]["id"]) not in str(told)
    Job.objects.all().delete()
    assert said(limited, "own")[0] == 201
    assert said(limited, "own")[0] == 200


def test_other_jobs_are_not_there_for_it(limited: APIClient, submit: SubmitJob) -> None:
    foreign = submit(name="foreign", labels={"project": "other"})
    own = sent(limited, name="own")[1]["id"]
    assert [one["id"] for one in limited.get(JOBS).json()["items"]] == [own]
    assert limited.get(f"{JOBS}:sparklines").json()["items"][0]["job_id"] == own
    for path in ("", "/explain", "/logs", "/metrics", "/events", "/checkpoints", "/code"):
        assert limited.get(f"{JOBS}/{foreign.id}{path}").status_code == 404, path
    for verb in ("cancel", "pause", "resume", "pin", "rerun"):
        assert limited.post(f"{JOBS}/{foreign.id}/{verb}").status_code == 404, verb
    change = {"labels": LABELS}
    assert limited.patch(f"{JOBS}/{foreign.id}", change, format="json").status_code == 404
    assert limited.delete(f"{JOBS}/{foreign.id}").status_code == 404
    compared = limited.get(f"{JOBS}:compare", {"jobs": f"{own},{foreign.id}"}).json()
    assert ([one["id"] for one in compared["items"]], compared["missing"]) == ([own], [foreign.id])
    assert Job.objects.get(pk=foreign.pk).state == "queued"
    assert limited.post(f"{JOBS}/{own}/cancel").status_code == 202


def test_no_answer_about_pools_or_secrets_names_other_jobs(
    limited: APIClient, api: APIClient, submit: SubmitJob, vision: Team
) -> None:
    Secret.objects.create(team=vision, name="wandb", kind="environment", variables=["KEY"])
    foreign = submit(name="foreign", secrets=["wandb"])
    own = sent(limited, name="own", secrets=["wandb"])[1]["id"]
    run(foreign, workers=1)
    pools, secrets = "/api/v1/pools", "/api/v1/teams/vision/secrets"
    (claim,) = limited.get(pools).json()["items"][0]["nodes"][0]["claims"]
    hidden = {"worker": None, "job_id": None, "job_name": None}
    assert claim == {"gpu_index": 0, "team": "vision", **hidden}
    assert api.get(pools).json()["items"][0]["nodes"][0]["claims"][0]["job_id"] == foreign.id
    (secret,) = limited.get(secrets).json()["items"]
    assert ([one["id"] for one in secret["jobs"]], secret["jobs_count"]) == ([own], 1)
    assert api.get(secrets).json()["items"][0]["jobs_count"] == 2
    Job.objects.filter(pk=foreign.pk).update(labels=LABELS)
    SHARED.note_change("vision/limited")
    (claim,) = limited.get(pools).json()["items"][0]["nodes"][0]["claims"]
    assert (claim["job_id"], claim["job_name"]) == (foreign.id, "foreign")


@pytest.mark.django_db(transaction=True)
def test_who_follows_a_job_does_so_as_long_as_it_is_one_of_the_tokens(
    limited: APIClient, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(followed_grants, "_ASK_EVERY_SECONDS", 0.0)
    job = sent(limited)[1]["id"]
    token, bounds = Token.objects.get(name="limited"), TokenBounds.of(["default"], LABELS)
    grant = Grant(team_id=vision.pk, token_id=token.pk, job_id=job, bounds=bounds)
    request: Any = SimpleNamespace(user=TokenUser(token))
    assert grant_of(request, team_id=vision.pk, job_id=job) == grant
    assert grants_of(request, principal_of_user(TokenUser(token)), job_id=job) == {grant}
    plain = grant_of(request, team_id=vision.pk)

    def states() -> list[GrantState]:
        async def look() -> list[GrantState]:
            watched = FollowedGrants()
            for one in (grant, plain):
                watched.follow(one)
            return [await watched.look_at(one) for one in (grant, plain)]

        return asyncio.run(look())

    assert states() == [GrantState.VALID, GrantState.VALID]
    Job.objects.filter(pk=job).update(labels={"project": "other"})
    assert states() == [GrantState.WITHDRAWN, GrantState.VALID]


def test_no_change_takes_a_job_out_of_its_labels(limited: APIClient) -> None:
    job = sent(limited)[1]["id"]

    def changed(**labels: str | None) -> tuple[int, str]:
        answer = limited.patch(f"{JOBS}/{job}", {"labels": labels}, format="json")
        return answer.status_code, answer.json().get("code", "")

    assert changed(project="other") == (422, "token_limit")
    assert changed(project=None) == (422, "token_limit")
    assert changed(seed="2") == (200, "")
    assert Job.objects.get(pk=job).labels == {"project": "digits", "seed": "2"}


def test_it_names_no_other_jobs_to_wait_for_or_to_start_from(
    limited: APIClient, submit: SubmitJob, vision: Team
) -> None:
    foreign = submit(name="foreign")
    array = JobArray.objects.create(
        team=vision, name="mixed", parameters=["s"], trials=1, submitted_by="ann"
    )
    Job.objects.filter(pk=foreign.pk).update(array=array, trial={"number": 1, "values": {"s": 1}})
    HeldCheckpoint.objects.create(source_job=foreign.id, step=1, names={}, digest="0" * 64)
    for entry in ({"job": foreign.id}, {"job": "foreign"}, {"array": "mixed"}):
        assert sent(limited, name="waits", depends_on=[entry])[0] == 422, entry
    status, told = sent(limited, name="starts", start_from={"job": "foreign"})
    assert (status, told["details"][0]["field"]) == (422, "start_from.job")
    sent(limited, name="own")
    assert sent(limited, name="waits", depends_on=[{"job": "own"}])[0] == 201
    cancelled = limited.post(f"{JOBS}/{Job.objects.get(name='own').pk}/cancel?tree=true")
    assert cancelled.status_code == 202


def test_a_tree_is_cancelled_in_as_many_statements_however_large_it_is(limited: APIClient) -> None:
    def statements(jobs: int) -> int:
        own = sent(limited, name=f"own-{jobs}")[1]["id"]
        for number in range(jobs):
            waits = {"name": f"behind-{jobs}-{number}", "depends_on": [{"job": own}]}
            assert sent(limited, **waits)[0] == 201
        with CaptureQueriesContext(connection) as captured:
            assert limited.post(f"{JOBS}/{own}/cancel?tree=true").status_code == 202
        return len(captured)

    assert statements(1) == statements(4)


def test_a_tree_is_not_cancelled_if_some_of_it_is_none_of_its_jobs(
    limited: APIClient, submit: SubmitJob
) -> None:
    own = sent(limited, name="own")[1]["id"]
    submit(name="behind", depends_on=[{"job": "own"}])
    assert limited.post(f"{JOBS}/{own}/cancel?tree=true").status_code == 403
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}


def test_of_events_it_reads_those_of_one_job(limited: APIClient, submit: SubmitJob) -> None:
    foreign, own = submit(name="foreign").id, sent(limited, name="own")[1]["id"]

    def told(job: str) -> list[str]:
        items = limited.get("/api/v1/events", {"job": job}).json()["items"]
        return [one["job_id"] for one in items]

    assert told(foreign) == []
    assert told(own) == [own]


@pytest.mark.parametrize(
    "path",
    [
        *("/events", "/events/stream", "/arrays", "/sweeps", "/usage", "/nodes", "/webhooks"),
        *("/teams/vision/models", "/teams/vision/schedules", "/teams/vision/storage"),
    ],
)
def test_what_is_about_more_than_single_jobs_is_closed_to_it(limited: APIClient, path: str) -> None:
    answer = limited.get(f"/api/v1{path}")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert answer.json()["message"] == (
        "This token is limited to jobs in pool default with label project=digits, and this is"
        " about more than single jobs. Use another token, or your password."
    )


def test_leads_limit_tokens_and_a_rotation_keeps_that(
    lead: APIClient, other_pool: Pool, vision: Team
) -> None:
    wanted = {"name": "nightly", "pools": ["a100"], "labels": LABELS, "scopes": ["submit"]}
    status, made = sent(lead, TOKENS, wanted)
    assert (status, made["pools"], made["labels"]) == (201, ["a100"], LABELS)
    rotated = lead.post(f"{TOKENS}/{made['id']}/rotate", {}, format="json").json()
    assert (rotated["pools"], rotated["labels"], rotated["scopes"]) == (
        ["a100"],
        LABELS,
        ["submit"],
    )
    assert sent(bearer(rotated["key"]), pool="a100")[0] == 201
    assert sent(bearer(rotated["key"]), name="wrong", pool="default")[0] == 422
    assert lead.get(TOKENS).json()["items"][0]["pools"] == ["a100"]
    told = AuditEntry.objects.filter(operation="add_token").get().after
    assert (told["pools"], told["labels"]) == (["a100"], LABELS)
    status, plain = sent(lead, TOKENS, {"name": "plain", "pools": [], "labels": None})
    assert (status, plain["pools"], plain["labels"], plain["scopes"]) == (201, None, None, None)


def test_a_limited_token_has_scopes_of_jobs_alone(lead: APIClient, other_pool: Pool) -> None:
    by_itself = sent(lead, TOKENS, {"name": "by-itself", "pools": ["a100"]})[1]
    assert by_itself["scopes"] == ["manage-jobs", "read", "submit"]
    wrong = {"name": "wrong", "labels": LABELS, "scopes": ["submit", "manage-team"]}
    status, told = sent(lead, TOKENS, wrong)
    assert (status, told["details"][0]["field"]) == (400, "scopes")
    assert "leave out manage-team" in str(told)


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ({"pools": ["h100"]}, "h100 is no pool. There are: default."),
        ({"pools": ["default"] * 21}, "pools"),
        ({"pools": "default"}, "pools"),
        ({"labels": {"a b": "1"}}, "which is not a label name"),
        ({"labels": {str(number): "1" for number in range(11)}}, "at most 10 labels"),
        ({"labels": {"a": "\x00"}}, "labels"),
        ({"labels": ["a"]}, "labels"),
    ],
)
def test_bounds_have_bounds(lead: APIClient, bounds: dict[str, Any], said: str) -> None:
    status, told = sent(lead, TOKENS, {"name": "wrong", **bounds})
    assert (status, said in str(told)) == (400, True), told
    assert not Token.objects.exists()


def test_a_person_limits_a_token_of_their_own_and_an_admin_is_none_by_it(
    vision: Team, admin_user: User
) -> None:
    browser = APIClient()
    browser.force_login(admin_user)
    wanted = {"name": "laptop", "labels": LABELS, "scopes": ["admin"]}
    assert sent(browser, "/api/v1/personal-tokens", wanted)[0] == 400
    status, made = sent(browser, "/api/v1/personal-tokens", wanted | {"scopes": ["submit", "read"]})
    assert (status, made["labels"], made["pools"]) == (201, LABELS, None)
    assert sent(bearer(made["key"]), team="vision")[0] == 201
    assert Job.objects.get().labels == LABELS
    _, key = personal_tokens.make(
        admin_user,
        "stronger",
        days=1,
        longest_days=1,
        scopes=["admin"],
        bounds=TokenBounds(labels=tuple(LABELS.items())),
    )
    assert PersonalToken.objects.get(name="stronger").labels == LABELS
    assert bearer(key).get("/api/v1/prefetched-images").status_code == 403
    assert bearer(key).get(JOBS).status_code == 200
