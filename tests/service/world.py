"""Somebody of each kind, and something of everything that the API tells of."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import pytest
from cluster.models import Pool, PrefetchedImage
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient
from schedules.models import TeamSchedule
from storage.models import DataSource, HeldCheckpoint, ModelAlias, ModelVersion, NamedModel
from sweeps.models import Sweep
from tenancy.access import invitations
from tenancy.access.keys import device_logins, personal_tokens, tokens
from tenancy.access.principal import principal_of_person
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import (
    DeviceLogin,
    ImageRule,
    Invitation,
    Membership,
    PersonalToken,
    Team,
    Token,
)
from tenancy.secrets import team_secrets
from tenancy.secrets.values import variables
from webhooks import hooks
from webhooks.models import WebhookDelivery

from autoscaler.gpu_accounts.models import GpuPrice
from autoscaler.simulation.api.models import Report, Simulation
from autoscaler.simulation.api.rest.requests import checked
from jobs.commands.rules import deciding
from jobs.lifecycle import JobState
from jobs.models import Job, JobArray, JobTemplate, TeamRules
from jobs.spec.rules import rule_set
from tests.service.conftest import SubmitJob, run, spec
from tests.service.syncing import report, token_of

PASSWORD: Final = "a long password"
PERSONAL: Final = {  # whose key it is, and its scopes
    "own": ("lead", personal_tokens.USUAL_SCOPES),
    "ownread": ("lead", ["read"]),
    "ownadmin": ("root", ["admin"]),
    "lesser": ("root", personal_tokens.USUAL_SCOPES),
}
SCOPES: Final = {"reader": ["read"], "limited": ["read", "submit", "manage-jobs"]}  # of team tokens
BOUNDS: Final = {"limited": TokenBounds(pools=("default",), labels=(("a", "canary"),))}
WAITING: Final = ("cd_" + "w" * 43, "BCDF-GHJK")  # the codes of a login that waits for a yes
CONFIRMED: Final = ("cd_" + "c" * 43, "LMNP-QRST")  # of one that an admin said yes to
PRICED_SINCE: Final = date(2150, 1, 1)
INVITED: Final = "ci_" + "i" * 43  # the key of an invitation
CANARY: Final = "canary"  # in what only team vision, or only admins, may read
RULES: Final[dict[str, Any]] = {"defaults": {"env": {"CANARY": CANARY}}}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Things of team vision, and of admins."""

    array: JobArray
    sweep: Sweep
    job: Job
    ended: Job
    simulation: Simulation
    preview: Simulation
    price: Simulation
    rule: ImageRule
    prefetched: PrefetchedImage
    source: DataSource
    token: Token
    admins_token: PersonalToken
    delivery: WebhookDelivery
    invitation: Invitation

    def parameters(self, path: str, *, operation: str = "") -> dict[str, Any]:
        """What stands for the names in an operation's address."""
        return {
            "array_id": self.array.id,
            "sweep_id": self.sweep.pk,
            "job_id": self.ended.id if operation == "delete_job" else self.job.id,
            "name": self._name(path),
            "pool": "default",
            "secret": f"{CANARY}-secret",
            "part": "logs",
            "simulation_id": self.simulation.id,
            "preview_id": self.preview.id,
            "price_id": self.price.id,
            "rule_id": self.rule.pk,
            "number": self.prefetched.pk,
            "digest": "0" * 64,
            "step": "latest",
            "model": f"{CANARY}-model",
            "version": "1",
            "alias": "production",
            "member": "member",
            "invitation": self.invitation.pk,
            "token": (self.admins_token if "personal" in path else self.token).pk,
            "schedule": f"{CANARY}-schedule",
            "template": f"{CANARY}-template",
            "webhook": self.delivery.webhook_id,
            "delivery": self.delivery.pk,
            "month": "2026-11",
            "shell": "0" * 32,
            "since": PRICED_SINCE.isoformat(),
        }

    def _name(self, path: str) -> str:
        if "/teams/" in path:
            return "vision"
        if "/pools/" in path:
            return "default"
        return self.source.name if "/data-sources/" in path else "node-1"

    def address(self, path: str, *, operation: str) -> str:
        return path.format(**self.parameters(path, operation=operation))


@pytest.fixture
def people(vision: Team, language: Team, admin_user: User) -> None:
    """One of each kind, by that name."""
    for name, team, role in (
        ("viewer", vision, Membership.Role.VIEWER),
        ("member", vision, Membership.Role.MEMBER),
        ("lead", vision, Membership.Role.LEAD),
        ("foreign", language, Membership.Role.LEAD),
    ):
        person = User.objects.create_user(name, password=PASSWORD)
        Membership.objects.create(user=person, team=team, role=role)
    User.objects.create_user("teamless", password=PASSWORD)


@pytest.fixture
def world(people: None, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("autoscaler.simulation.api.tasks.ask", lambda: None)
    vision, pool = Team.objects.get(name="vision"), Pool.objects.get()
    GpuPrice.objects.create(pool="default", since=PRICED_SINCE, per_gpu_hour=1)
    job = submit(name=f"{CANARY}-job", labels={"a": CANARY}, env={"A": CANARY})
    run(job, workers=1)
    array = JobArray.objects.create(
        team=vision, name=f"{CANARY}-array", parameters=["lr"], trials=1, submitted_by=CANARY
    )
    Job.objects.filter(pk=job.pk).update(array=array, trial={"number": 1, "values": {"lr": 0.1}})
    ended = submit(name=f"{CANARY}-ended")
    Job.objects.filter(pk=ended.pk).update(state=JobState.COMPLETED, finished_at=timezone.now())
    content = variables({"CANARY": CANARY})
    team_secrets.put(team=vision, name=f"{CANARY}-secret", content=content, by=CANARY)
    asked = User.objects.get(username="lead")
    simulation = Simulation.objects.create(
        title=CANARY,
        request=checked(BODIES["request_simulation"]),
        requested_by=asked.username,
        owner=asked,
        state="completed",
        result={"trace": CANARY, "gpus": 8, "verdict": "", "runs": []},
    )
    Report.objects.create(simulation=simulation, html=CANARY)
    preview = Simulation.objects.create(
        title=CANARY,
        kind=Simulation.Kind.QUOTA_PREVIEW,
        request={"quotas": [{"team": CANARY, "pool": "default"}], "pools": [], "days": 7},
        requested_by=asked.username,
        owner=asked,
        state="completed",
        result={"until": "2026-11-01T00:00:00Z", "jobs": 1, "teams": [], "paused": []},
    )
    price = Simulation.objects.create(
        title=CANARY,
        kind=Simulation.Kind.QUOTA_PRICE,
        request={"team": CANARY, "pool": "default", "steps": [1], "days": 7},
        requested_by=asked.username,
        owner=asked,
        state="completed",
        result={
            "until": "2026-11-01T00:00:00Z",
            "jobs": 1,
            "now": None,
            "without_borrowing": None,
            "steps": [],
        },
    )
    source = DataSource.objects.create(
        name=f"{CANARY}-data", kind="folder", place={"path": f"/srv/{CANARY}"}, updated_by=CANARY
    )
    source.teams.add(vision)
    wait_for_a_yes(monkeypatch)
    keep_model_of(job)
    webhook, _ = hooks.add(
        team=vision,
        name=f"{CANARY}-hook",
        url=f"https://{CANARY}.example.com/{CANARY}",
        shape="json",
        kinds=[],
        states=[],
        by=CANARY,
    )
    add_schedule(vision)
    TeamRules.objects.create(team=vision, **RULES)
    JobTemplate.objects.create(
        team=vision,
        name=f"{CANARY}-template",
        spec={"env": {"A": CANARY}},
        description=f"{CANARY}s",
    )
    return World(
        array=array,
        sweep=sweep_of(vision, ended),
        source=source,
        delivery=hooks.send_test(webhook, timezone.now(), service_url="https://example.com"),
        token=tokens.issue(team=vision, name=f"{CANARY}-token")[0],
        admins_token=personal_tokens.make(
            User.objects.get(username="root"), f"{CANARY}-own", days=1, longest_days=1
        )[0],
        invitation=invite(vision),
        job=job,
        ended=ended,
        simulation=simulation,
        preview=preview,
        price=price,
        rule=ImageRule.objects.create(team=vision, pattern=f"{CANARY}.example.com/*"),
        prefetched=PrefetchedImage.objects.create(pool=pool, image=CANARY),
    )


def sweep_of(team: Team, trial: Job) -> Sweep:
    """One whose only trial is a job that has ended."""
    array = JobArray.objects.create(
        team=team,
        name=f"{CANARY}-sweep",
        parameters=["lr"],
        trials=1,
        is_swept=True,
        submitted_by=CANARY,
    )
    Job.objects.filter(pk=trial.pk).update(array=array, trial={"number": 1, "values": {"lr": 0.1}})
    return Sweep.objects.create(
        array=array, spec=spec(name=CANARY), terms=BODIES["submit_sweep"]["sweep"], made=1
    )


def add_schedule(team: Team) -> None:
    """One that an admin paused, of which only team vision may read."""
    TeamSchedule.objects.create(
        team=team,
        name=f"{CANARY}-schedule",
        spec=spec(name=f"{CANARY}-scheduled", team=team.name),
        cron="0 2 * * *",
        time_zone="UTC",
        start_within=3600,
        holder="root",
        person_id=User.objects.get(username="root").pk,
        is_paused=True,
        created_by=CANARY,
    )


def invite(team: Team) -> Invitation:
    """Somebody, who has not accepted yet."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tenancy.access.keys.tokens.new_key", lambda _: INVITED)
        lead = principal_of_person(User.objects.get(username="lead"))
        return invitations.invite(lead, team, "viewer", mail=f"{CANARY}@example.com")[0]


def wait_for_a_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two command lines, one of which has got it."""
    with monkeypatch.context() as patched:
        for device_code, user_code in (WAITING, CONFIRMED):
            letters = iter(user_code.replace("-", ""))
            patched.setattr("tenancy.access.keys.tokens.new_key", lambda _, code=device_code: code)
            patched.setattr(
                "tenancy.access.keys.device_logins.secrets.choice", lambda _, one=letters: next(one)
            )
            device_logins.start(name="device", days=1, scopes=["read"], address="192.0.2.7")
    DeviceLogin.objects.filter(device_digest=tokens.digest(CONFIRMED[0])).update(
        state=DeviceLogin.State.CONFIRMED, person=User.objects.get(username="root")
    )


def keep_model_of(job: Job) -> None:
    """A model whose only version is to be held, and is used."""
    model = NamedModel.objects.create(
        team=job.team, name=f"{CANARY}-model", newest=1, created_by=CANARY
    )
    held = HeldCheckpoint.objects.create(source_job=job.id, step=1, names={}, digest="0" * 64)
    version = ModelVersion.objects.create(
        model=model,
        number=1,
        held=held,
        job_id=job.id,
        job_name=job.name,
        epoch=1.0,
        bytes=2,
        weights_bytes=1,
        metrics={},
        sources=[],
        spec=job.resolved_spec,
        created_by=CANARY,
    )
    ModelAlias.objects.create(model=model, word="production", version=version)


def client(sender: str, world: World) -> APIClient:
    """A program or a browser that speaks for this sender."""
    made = APIClient()
    if (person := PERSONAL.get(sender)) is not None:
        name, scopes = person
        _, key = personal_tokens.make(
            User.objects.get(username=name), sender, days=1, longest_days=1, scopes=scopes
        )
        made.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    elif sender in {"viewer", "member", "lead", "foreign", "teamless", "admin"}:
        made.force_login(User.objects.get(username="root" if sender == "admin" else sender))
    elif sender == "job":
        made.credentials(HTTP_AUTHORIZATION=f"Bearer {token_of(world.job)}")
    elif sender in {"token", "reader", "limited", "revoked"}:
        team = Team.objects.get(name="vision")
        token, key = tokens.issue(
            team=team, name=sender, scopes=SCOPES.get(sender), bounds=BOUNDS.get(sender)
        )
        made.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
        if sender == "revoked":
            tokens.revoke(token)
    return made


HEADERS: Final[dict[str, dict[str, str]]] = {
    "change_schedule": {"HTTP_IF_MATCH": "1"},
    "change_template": {"HTTP_IF_MATCH": "1"},
    "change_team_rules": {
        "HTTP_IF_MATCH": deciding.version_of(rule_set.read(RULES), is_locked=False)
    },
}
BODIES: Final[dict[str, Any]] = {
    "follow_events": {"after": "nowhere"},  # else it goes on for minutes
    "submit_job": spec(team="vision"),
    "submit_jobs": {"jobs": [spec(team="vision")]},
    "validate_job": spec(team="vision"),
    "change_team": {"max_queued_jobs": 5},
    "change_quota": {"guaranteed_gpus": 1},
    "set_gpu_price": {"per_gpu_hour": 2.5},
    "preview_setup": {"setup": {"teams": {"vision": {"max_queued_jobs": 5}}}},
    "add_team": {"name": "nlp"},
    "add_pool": {"name": "another"},
    "change_pool": {"fair_share": {"usage_weight": 0.5}},
    "add_node": {"name": "node-9", "pool": "default", "gpus": 1},
    "change_node": {"address": "10.0.0.9"},
    "apply_setup": {"setup": {"teams": {"vision": {"max_queued_jobs": 5}}}},
    "add_model_version": {"job": f"{CANARY}-job"},
    "set_model_alias": {"version": "1"},
    "invite_member": {"role": "viewer"},
    "look_up_invitation": {"key": INVITED},
    "accept_invitation": {"key": INVITED},
    "join_by_invitation": {"key": INVITED, "username": "new", "password": PASSWORD},
    "add_member": {"name": "teamless", "role": "viewer"},
    "change_member": {"role": "viewer"},
    "add_token": {"name": "nightly"},
    "add_personal_token": {"name": "laptop"},
    "start_device_login": {"name": "laptop"},
    "poll_device_login": {"device_code": WAITING[0]},
    "redeem_device_login": {"device_code": CONFIRMED[0]},
    "look_up_device_login": {"user_code": WAITING[1]},
    "confirm_device_login": {"user_code": WAITING[1]},
    "refuse_device_login": {"user_code": WAITING[1]},
    "set_secret": {"kind": "environment", "variables": {"A": "1"}},
    "change_team_retention": {"days": 30},
    "set_data_source": {"path": "/srv/elsewhere", "teams": ["vision"]},
    "add_image_rule": {"pattern": "x.example.com/*"},
    "add_prefetched_image": {"pool": "default", "image": "x.example.com/a:1"},
    "request_simulation": {
        "trace": {"kind": "generated", "mix": "kinds", "jobs": 1},
        "policies": ["completion_time"],
    },
    "request_quota_preview": {
        "quotas": [{"team": "vision", "pool": "default", "guaranteed_gpus": 1}]
    },
    "request_quota_price": {"team": "vision", "steps": [1]},
    "add_webhook": {"team": "vision", "name": "alarms", "url": "https://example.com/hook"},
    "change_webhook": {"kinds": ["idle"]},
    "submit_sweep": spec(
        team="vision",
        env={"LR": "{{lr}}"},
        sweep={
            "parameters": {"lr": [0.1, 0.2]},
            "metric": {"name": "loss"},
            "asha": {"max": 9},
        },
    ),
    "add_schedule": {"name": "nightly", "spec": spec(), "cron": "0 2 * * *"},
    "change_schedule": {"cron": "0 3 * * *"},
    "change_team_rules": {"bounds": {"priority": {"most": 80}}},
    "add_template": {"name": "usual", "spec": {"priority": 40}},
    "change_template": {"description": "Another one."},
    "change_password": {"password": PASSWORD, "new_password": "another long password"},
    "log_in": {"username": "member", "password": PASSWORD},
    "sync_job": report(),
}
