"""Can an admin manage teams, tokens, quotas and nodes in the browser, and are mistakes refused?"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from cluster.models import Node, Pool, PrefetchedImage
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import timezone
from django.utils.html import escape
from tenancy.access.keys import tokens
from tenancy.models import Quota, Team, Token

from autoscaler.planning.policies import BUILT_IN
from jobs.models import Job
from tests.service.conftest import generation, run

FORMSETS = ("nodes", "quotas", "prefetched_images")
ASKING = {"nodes_min": 0, "patience_seconds": 60, "idle_minutes": 10, "nodes_per_hour": 12}


@pytest.fixture
def browser(admin_user: User) -> Client:
    client = Client()
    client.force_login(admin_user)
    return client


def page(browser: Client, path: str) -> str:
    answer = browser.get(f"/admin/{path}")
    assert answer.status_code == 200, path
    return answer.content.decode()


@pytest.mark.parametrize(
    "path",
    [
        "",
        "tenancy/team/",
        "tenancy/team/add/",
        "tenancy/quota/",
        "tenancy/quota/add/",
        "tenancy/token/",
        "tenancy/token/add/",
        "cluster/pool/",
        "cluster/pool/add/",
        "cluster/node/",
        "cluster/node/add/",
        "jobs/job/",
        "auth/user/",
        "auth/user/add/",
    ],
)
def test_every_page_opens(browser: Client, vision: Team, job: Job, path: str) -> None:
    tokens.issue(team=vision, name="x")
    page(browser, path)


def test_pages_of_single_things_open(browser: Client, vision: Team, pool: Pool, job: Job) -> None:
    run(job, workers=1)
    generation(job, 1)
    token, _ = tokens.issue(team=vision, name="x")
    assert "node-1" in page(browser, f"cluster/pool/{pool.pk}/change/")
    assert "vision" in page(browser, f"tenancy/team/{vision.pk}/change/")
    assert token.prefix in page(browser, f"tenancy/token/{token.pk}/change/")
    assert "job_arrived" in page(browser, f"jobs/job/{job.pk}/change/")


def test_a_tokens_key_is_shown_once_and_works(browser: Client, vision: Team) -> None:
    fields = {"team": vision.pk, "name": "ci", "expires_at_0": "", "expires_at_1": ""}
    answer = browser.post("/admin/tenancy/token/add/", fields)
    found = re.search(r'value="(ct_[^"]+)"', answer.content.decode())
    assert found
    assert "no-store" in answer.headers["Cache-Control"]
    token = tokens.find_valid(found[1])
    assert token is not None
    assert found[1] not in page(browser, f"tenancy/token/{token.pk}/change/")
    assert found[1] not in page(browser, "tenancy/token/")


def test_an_admin_chooses_what_a_token_may_do(browser: Client, vision: Team) -> None:
    fields = {"team": vision.pk, "name": "ci", "expires_at_0": "", "expires_at_1": ""}
    browser.post("/admin/tenancy/token/add/", {**fields, "scopes": ["submit", "read"]})
    assert Token.objects.get().scopes == ["read", "submit"]
    browser.post("/admin/tenancy/token/add/", {**fields, "name": "all"})
    assert Token.objects.get(name="all").scopes is None


def test_tokens_are_revoked_from_their_list(browser: Client, vision: Team) -> None:
    token, key = tokens.issue(team=vision, name="ci")
    chosen = {"action": "revoke", "_selected_action": [token.pk]}
    browser.post("/admin/tenancy/token/", chosen)
    assert tokens.find_valid(key) is None
    assert Token.objects.get().revoked_at is not None


def add_quota(browser: Client, team: Team, pool: Pool, **fields: Any) -> str:
    body = {
        "team": team.pk,
        "pool": pool.pk,
        "guaranteed_gpus": 1,
        "limit_gpus": "",
        "over_quota_weight": 1.0,
        **fields,
    }
    return browser.post("/admin/tenancy/quota/add/", body).content.decode()


def test_a_guarantee_beyond_the_pool_is_refused_with_what_is_left(
    browser: Client, pool: Pool, vision: Team
) -> None:
    team = Team.objects.create(name="robots")
    answer = add_quota(browser, team, pool, guaranteed_gpus=5)
    assert "has 8 GPUs, of which 4 are guaranteed to other teams. Guarantee at most 4." in answer
    assert not Quota.objects.filter(team=team).exists()
    add_quota(browser, team, pool, guaranteed_gpus=4)
    assert Quota.objects.get(team=team).guaranteed_gpus == 4


def test_a_limit_below_the_guarantee_is_refused(browser: Client, pool: Pool) -> None:
    team = Team.objects.create(name="robots")
    answer = add_quota(browser, team, pool, guaranteed_gpus=3, limit_gpus=2)
    assert "The limit (2) is below the guarantee (3)." in answer


def change_pool(browser: Client, pool: Pool, **fields: Any) -> str:
    forms = {f"{name}-{part}": 0 for name in FORMSETS for part in ("TOTAL_FORMS", "INITIAL_FORMS")}
    values = {
        "name": pool.name,
        "gpu_type": pool.gpu_type,
        "policy": pool.policy,
        "policy_options": "{}",
        "admission": pool.admission,
        "dollars_per_gpu_hour": pool.dollars_per_gpu_hour,
        **ASKING,
        **forms,
        **fields,
    }
    answer = browser.post(f"/admin/cluster/pool/{pool.pk}/change/", values)
    pool.refresh_from_db()
    return "" if answer.status_code == 302 else answer.content.decode()


def test_the_page_of_a_pool_explains_every_policy_and_its_options(
    browser: Client, pool: Pool
) -> None:
    html = page(browser, f"cluster/pool/{pool.pk}/change/")
    for name in BUILT_IN.names:
        assert f'<option value="{name}"' in html
        assert all(escape(option.explanation) in html for option in BUILT_IN.options(name))


def test_an_admin_chooses_policy_options_price_and_admission(browser: Client, pool: Pool) -> None:
    wrong = change_pool(
        browser,
        pool,
        policy="scaling_efficiency",
        policy_options='{"threshold": 0.3}',
        admission="dropping",
        dollars_per_gpu_hour=2.5,
    )
    assert not wrong
    assert (pool.policy, pool.policy_options) == ("scaling_efficiency", {"threshold": 0.3})
    assert (pool.admission, pool.dollars_per_gpu_hour) == ("dropping", 2.5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ('{"threshold": "high"}', "is not a number"),
        ('{"treshold": 0.3}', "its options are threshold"),
        ("[1]", "Write a mapping"),
        ("{", "Enter a valid JSON"),
    ],
)
def test_wrong_options_of_a_policy_are_refused_with_what_is_right(
    browser: Client, pool: Pool, options: str, says: str
) -> None:
    answer = change_pool(browser, pool, policy="scaling_efficiency", policy_options=options)
    assert says in answer
    assert pool.policy == "completion_time"


def test_a_pool_of_a_policy_that_is_gone_still_has_its_page(browser: Client, pool: Pool) -> None:
    Pool.objects.update(policy="gone")
    assert "gone: not installed any more" in page(browser, f"cluster/pool/{pool.pk}/change/")


def test_an_admin_has_an_image_fetched_and_sees_where_it_is(browser: Client, pool: Pool) -> None:
    added = {"TOTAL_FORMS": 1, "0-pool": pool.pk, "0-image": "mine:1"}
    forms = {f"prefetched_images-{name}": value for name, value in added.items()}
    assert not change_pool(browser, pool, **forms)
    assert PrefetchedImage.objects.get().image == "mine:1"
    PrefetchedImage.objects.update(notes={"node-1": "", "node-2": "fetching mine:1"})
    html = page(browser, f"cluster/pool/{pool.pk}/change/")
    assert "node-1: there; node-2: fetching mine:1" in html


def test_an_unknown_policy_is_refused(pool: Pool) -> None:
    pool.policy = "fastest"
    with pytest.raises(ValidationError, match="fastest"):
        pool.full_clean()


def test_guarantees_given_together_are_checked_together(browser: Client, pool: Pool) -> None:
    one, two = Team.objects.create(name="one"), Team.objects.create(name="two")
    nodes = list(pool.nodes.all())
    body: dict[str, Any] = {
        "name": pool.name,
        "gpu_type": "slot",
        "policy": "completion_time",
        "policy_options": "{}",
        "admission": "queueing",
        "dollars_per_gpu_hour": 0,
        **ASKING,
        "nodes-TOTAL_FORMS": 2,
        "nodes-INITIAL_FORMS": 2,
        "quotas-TOTAL_FORMS": 2,
        "quotas-INITIAL_FORMS": 0,
        "prefetched_images-TOTAL_FORMS": 0,
        "prefetched_images-INITIAL_FORMS": 0,
    }
    for number, node in enumerate(nodes):
        body |= {
            f"nodes-{number}-id": node.pk,
            f"nodes-{number}-pool": pool.pk,
            f"nodes-{number}-name": node.name,
            f"nodes-{number}-address": node.address,
            f"nodes-{number}-gpus": node.gpus,
            f"nodes-{number}-is_schedulable": "on",
        }
    for number, team in enumerate((one, two)):
        body |= {
            f"quotas-{number}-pool": pool.pk,
            f"quotas-{number}-team": team.pk,
            f"quotas-{number}-guaranteed_gpus": 5,
            f"quotas-{number}-over_quota_weight": 1.0,
        }
    answer = browser.post(f"/admin/cluster/pool/{pool.pk}/change/", body)
    assert "These guarantees add up to 10 GPUs; the pool has 8." in answer.content.decode()
    assert not Quota.objects.exists()
    body["quotas-1-guaranteed_gpus"] = 3
    answer = browser.post(f"/admin/cluster/pool/{pool.pk}/change/", body)
    assert answer.status_code == 302
    assert Quota.objects.count() == 2


def test_a_node_that_guarantees_need_cannot_shrink(
    browser: Client, pool: Pool, vision: Team, language: Team
) -> None:
    node = Node.objects.get(name="node-1")
    body = {"pool": pool.pk, "name": node.name, "address": node.address, "gpus": 1}
    answer = browser.post(f"/admin/cluster/node/{node.pk}/change/", body).content.decode()
    assert "Teams are guaranteed 6 GPUs of pool default, which would have 5." in answer
    node.refresh_from_db()
    assert node.gpus == 4


def test_nodes_are_cordoned_and_uncordoned(browser: Client, pool: Pool) -> None:
    chosen = {"_selected_action": [node.pk for node in pool.nodes.all()]}
    browser.post("/admin/cluster/node/", {**chosen, "action": "cordon"})
    assert not Node.objects.filter(is_schedulable=True).exists()
    browser.post("/admin/cluster/node/", {**chosen, "action": "uncordon"})
    assert not Node.objects.filter(is_schedulable=False).exists()


@pytest.mark.parametrize("verb", ["add/", "{id}/delete/"])
def test_jobs_are_read_only(browser: Client, job: Job, verb: str) -> None:
    assert browser.get(f"/admin/jobs/job/{verb.format(id=job.id)}").status_code == 403
    assert browser.post(f"/admin/jobs/job/{job.id}/change/", {"state": "failed"}).status_code == 403


def test_who_is_no_admin_stays_out(vision: Team) -> None:
    client = Client()
    client.force_login(User.objects.create_user("ada"))
    assert client.get("/admin/").status_code == 302


POINT = {"bytes": 10**8, "workers": 4, "crosses_nodes": False, "seconds": 0.012}


def test_a_pool_keeps_the_times_of_an_all_reduce(pool: Pool) -> None:
    pool.all_reduce = [POINT, POINT | {"workers": 16, "crosses_nodes": True, "seconds": 1}]
    pool.full_clean()


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"bytes": 1}, "a list of at most"),
        ([POINT, {"bytes": 1}], "Point 2 must have exactly the fields"),
        ([POINT | {"bytes": 0}], "Point 1 needs bytes"),
        ([POINT | {"bytes": 1.5}], "Point 1 needs bytes"),
        ([POINT | {"workers": 1}], "Point 1 needs workers"),
        ([POINT | {"crosses_nodes": 1}], "Point 1 needs crosses_nodes"),
        ([POINT | {"seconds": 0}], "Point 1 needs seconds"),
        ([POINT | {"seconds": float("nan")}], "Point 1 needs seconds"),
        ([POINT | {"seconds": True}], "Point 1 needs seconds"),
    ],
)
def test_a_table_of_all_reduce_times_that_cannot_be_read_is_refused(
    pool: Pool, table: object, problem: str
) -> None:
    pool.all_reduce = table
    with pytest.raises(ValidationError, match=problem):
        pool.full_clean()


def test_an_expired_token_is_not_called_valid(browser: Client, vision: Team) -> None:
    tokens.issue(team=vision, name="old", expires_at=timezone.now() - timedelta(seconds=1))
    tokens.issue(team=vision, name="new", expires_at=timezone.now() + timedelta(days=1))
    listed = page(browser, "tenancy/token/")
    states = re.findall(r'field-state">(\w+)<', listed)
    assert sorted(states) == ["expired", "valid"]


def test_staff_with_permissions_over_all_teams_is_not_let_in(vision: Team) -> None:
    ada = User.objects.create_user("ada", is_staff=True)
    ada.user_permissions.set(Permission.objects.all())
    client = Client()
    client.force_login(ada)
    answer = client.get("/admin/tenancy/team/")
    assert (answer.status_code, answer.url) == (302, "/admin/login/?next=/admin/tenancy/team/")


def test_a_person_is_made_an_admin_by_one_mark(browser: Client) -> None:
    ada = User.objects.create_user("ada")
    form = {
        "username": "ada",
        "is_active": "on",
        "is_superuser": "on",
        "date_joined_0": "2026-01-01",
        "date_joined_1": "00:00:00",
        "memberships-TOTAL_FORMS": "0",
        "memberships-INITIAL_FORMS": "0",
    }
    answer = browser.post(f"/admin/auth/user/{ada.pk}/change/", form)
    assert answer.status_code == 302, answer.content.decode()
    ada.refresh_from_db()
    assert (ada.is_superuser, ada.is_staff) == (True, True)
    assert "is_staff" not in page(browser, f"auth/user/{ada.pk}/change/")
