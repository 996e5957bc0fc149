"""Is what admins set up one document, that changes all of it or nothing?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, NodeChange, Pool, PrefetchedImage
from control_plane.setup import stored
from django.contrib.auth.models import User
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient
from tenancy.models import AuditEntry, FairShareSettings, ImageRule, Quota, Team, TeamLimits

from jobs.models import Job, JobTemplate, TeamRules
from tests.service.at_once import ask_at_once
from tests.service.conftest import SubmitJob, run, spec

URL = "/api/v1/cluster/setup"


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def exported(admin: APIClient) -> Any:
    return admin.get(URL).json()["setup"]


def asked(admin: APIClient, verb: str, setup: Any, **more: Any) -> Any:
    headers = {"If-Match": more.pop("version")} if "version" in more else {}
    body = {"setup": setup, **more}
    return admin.post(f"{URL}:{verb}", body, format="json", headers=headers)


def told(answer: Any) -> list[tuple[str, str]]:
    assert answer.status_code == 200, answer.json()
    return [
        (one["action"], "/".join(filter(None, (one["kind"], one["of"], one["name"]))))
        for one in answer.json()["changes"]
    ]


def places(answer: Any) -> list[str]:
    return [one["field"] for one in answer.json()["details"]]


@pytest.fixture
def furnished(vision: Team, language: Team, pool: Pool) -> None:
    """Something of each kind, with values that are no defaults."""
    FairShareSettings.objects.create(pool=pool, usage_weight=0.5)
    TeamLimits.objects.create(team=vision, max_running_jobs=3)
    Team.objects.create(name="ocr", parent=vision, network="listed", reachable=["pypi.org:443"])
    ImageRule.objects.create(team=vision, pattern="registry.example.com/vision/*")
    ImageRule.objects.create(team=None, pattern="*")
    TeamRules.objects.create(
        team=vision,
        defaults={"env": {"A": "1"}},
        bounds={"max_duration": {"most": "90m"}},
        labels={"cost-centre": {}},
        pools=["default"],
        is_locked=True,
    )
    JobTemplate.objects.create(
        team=vision, name="nightly", description="Of a night.", spec={"priority": 20}
    )
    PrefetchedImage.objects.create(pool=pool, image="registry.example.com/a:1")
    Pool.objects.filter(pk=pool.pk).update(
        policy="scaling_efficiency", policy_options={"threshold": 0.2}
    )


def test_what_is_exported_is_what_is_there(furnished: None, admin: APIClient) -> None:
    found = exported(admin)
    of_pool, vision = found["pools"]["default"], found["teams"]["vision"]
    assert of_pool["fair_share"]["usage_weight"] == 0.5
    assert of_pool["policy_options"] == {"threshold": 0.2}
    assert of_pool["prefetched_images"] == ["registry.example.com/a:1"]
    assert sorted(of_pool["nodes"]) == ["node-1", "node-2"]
    assert of_pool["nodes"]["node-1"]["gpus"] == 4
    assert vision["quotas"]["default"]["guaranteed_gpus"] == 4
    assert vision["limits"]["max_running_jobs"] == 3
    assert vision["images"] == ["registry.example.com/vision/*"]
    assert found["teams"]["ocr"]["parent"] == "vision"
    assert found["teams"]["language"]["limits"]["max_running_jobs"] is None
    assert found["images"] == ["*"]
    assert vision["rules"] == {
        "defaults": {"env": {"A": "1"}},
        "bounds": {"max_duration": {"most": "90m"}},
        "labels": {"cost-centre": {}},
        "pools": ["default"],
        "modes": None,
        "is_locked": True,
    }
    assert vision["templates"] == {
        "nightly": {"description": "Of a night.", "spec": {"priority": 20}}
    }


def test_an_export_that_is_applied_changes_nothing(furnished: None, admin: APIClient) -> None:
    whole = admin.get(URL).json()
    for verb in ("preview", "apply"):
        answer = asked(admin, verb, whole["setup"], prune=True, version=whole["version"])
        assert told(answer) == []
        assert answer.json()["version"] == whole["version"]
    assert admin.get(URL).json() == whole


def test_a_set_up_is_read_in_seven_statements(
    furnished: None, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(7):
        stored.read()


def test_an_empty_installation_is_set_up_from_a_file(
    furnished: None, admin: APIClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    whole = admin.get(URL).json()
    nothing = {"pools": {}, "teams": {}, "images": []}
    removed = asked(admin, "apply", nothing, prune=True)
    assert {action for action, _ in told(removed)} == {"removed"}
    assert exported(admin) == nothing
    with django_assert_max_num_queries(60):
        made = asked(admin, "apply", whole["setup"])
    assert {action for action, _ in told(made)} == {"created"}
    again = admin.get(URL).json()
    assert again == whole
    assert made.json()["version"] == again["version"]
    joined = NodeChange.objects.filter(kind=NodeChange.Kind.JOINED, node="node-1")
    assert joined.count() == 2


def test_many_objects_take_no_more_statements_than_few(
    pool: Pool, admin: APIClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    def teams(most: int) -> Any:
        own = {"max_queued_jobs": most, "limits": {"max_running_jobs": most}}
        quotas = {"default": {"over_quota_weight": most}}
        return {"teams": {f"t{number}": {**own, "quotas": quotas} for number in range(100)}}

    for most in (1, 2):  # made, and then changed
        with django_assert_max_num_queries(60):
            assert asked(admin, "apply", teams(most)).status_code == 200
    assert set(TeamLimits.objects.values_list("max_running_jobs", flat=True)) == {2}
    assert exported(admin)["teams"]["t7"]["quotas"]["default"]["over_quota_weight"] == 2
    few = {"teams": {"t7": {"limits": {"gpu_hours_per_month": 9}}}}
    assert asked(admin, "apply", few).status_code == 200
    assert exported(admin)["teams"]["t7"]["limits"]["max_running_jobs"] == 2


def test_fields_and_objects_that_are_not_named_stay(furnished: None, admin: APIClient) -> None:
    before = exported(admin)
    few = {"teams": {"vision": {"limits": {"gpu_hours_per_month": 100}, "quotas": {}}}}
    answer = asked(admin, "apply", few)
    (change,) = answer.json()["changes"]
    assert (change["kind"], change["name"], change["action"]) == ("team", "vision", "changed")
    assert change["fields_changed"] == [
        {"field": "limits.gpu_hours_per_month", "before": None, "after": 100.0}
    ]
    kept = [(one["kind"], one["of"], one["name"]) for one in answer.json()["kept"]]
    assert kept == [("team", "", "language"), ("team", "", "ocr"), ("quota", "vision", "default")]
    before["teams"]["vision"]["limits"]["gpu_hours_per_month"] = 100.0
    assert exported(admin) == before


def test_a_preview_tells_and_changes_nothing(furnished: None, admin: APIClient) -> None:
    whole = admin.get(URL).json()
    wanted = {"teams": {"nlp": {}, "vision": {"parent": "nlp"}}, "images": []}
    answer = asked(admin, "preview", wanted)
    assert told(answer) == [("created", "team/nlp"), ("changed", "team/vision")]
    pruned = asked(admin, "preview", {"images": []}, prune=True)
    assert told(pruned) == [("removed", "image rule/*")]
    assert admin.get(URL).json() == whole
    assert answer.json()["version_before"] == whole["version"]
    assert not AuditEntry.objects.filter(operation="preview_setup").exists()


def test_guarantees_are_looked_at_as_they_are_in_the_end(
    vision: Team, language: Team, admin: APIClient
) -> None:
    """Neither of these could be changed before the other."""

    def quotas(of_vision: int, of_language: int) -> Any:
        given = {"vision": of_vision, "language": of_language}
        return {
            "teams": {
                team: {"quotas": {"default": {"guaranteed_gpus": gpus, "limit_gpus": None}}}
                for team, gpus in given.items()
            }
        }

    assert asked(admin, "apply", quotas(8, 0)).status_code == 200
    assert asked(admin, "apply", quotas(0, 8)).status_code == 200
    for verb in ("preview", "apply"):
        refused = asked(admin, verb, quotas(1, 8))
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_setup")
        assert places(refused) == ["pools.default"]
        assert "has 8 GPUs, and teams are guaranteed 9" in refused.json()["message"]
    assert set(Quota.objects.values_list("team__name", "guaranteed_gpus")) == {
        ("vision", 0),
        ("language", 8),
    }


def test_who_was_overtaken_is_refused(vision: Team, admin: APIClient) -> None:
    seen = asked(admin, "preview", {}).json()["version_before"]
    Team.objects.filter(pk=vision.pk).update(max_queued_jobs=3)
    late = asked(admin, "apply", {"teams": {"vision": {"network": "egress"}}}, version=seen)
    assert (late.status_code, late.json()["code"]) == (412, "changed_meanwhile")
    vision.refresh_from_db()
    assert vision.network == "isolated"
    now = admin.get(URL).json()["version"]
    assert now != seen
    wanted = {"teams": {"vision": {"network": "egress"}}}
    assert asked(admin, "apply", wanted, version=f'"{now}"').status_code == 200
    assert asked(admin, "apply", {}, version="yesterday").status_code == 400


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "setup",
    [
        {"pools": {"default": {"fair_share": {"usage_weight": 2}}}},
        {"teams": {"vision": {"max_queued_jobs": 3}}},
        {"images": ["docker.io/library/*"]},
    ],
)
def test_of_two_at_once_who_have_seen_the_same_one_is_refused(
    setup: Any, vision: Team, pool: Pool, admin: APIClient, admin_user: User
) -> None:
    FairShareSettings.objects.create(pool=pool)
    other = APIClient()
    other.force_login(admin_user)
    seen = admin.get(URL).json()["version"]
    wanted = {"teams": {"vision": {"network": "egress"}}}
    answers = ask_at_once(
        lambda: asked(admin, "apply", setup, version=seen).status_code,
        lambda: asked(other, "apply", wanted, version=seen).status_code,
    )
    assert answers == (200, 412)
    vision.refresh_from_db()
    assert vision.network == "isolated"


@pytest.mark.django_db(transaction=True)
def test_two_who_hold_several_teams_do_not_wait_for_each_other(
    language: Team, vision: Team, admin: APIClient
) -> None:
    """Others hold teams in the order of their rows, whatever their names."""
    Team.objects.filter(pk=language.pk).update(name="z")

    def hold(team: Team) -> None:
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)

    both = {"teams": {name: {"max_queued_jobs": 3} for name in ("vision", "z")}}
    _, status = ask_at_once(
        lambda: hold(language),
        lambda: asked(admin, "apply", both).status_code,
        meanwhile=lambda: hold(vision),
    )
    assert status == 200


@pytest.mark.parametrize(
    ("setup", "place"),
    [
        ({"team": {}}, "setup.team"),
        ({"teams": {"vision": {"quota": {}}}}, "setup.teams.vision.quota"),
        ({"teams": {"Vision": {}}}, "setup.teams.Vision"),
        ({"teams": {"vision": {"limits": {"max_running_jobs": 0}}}}, "limits.max_running_jobs"),
        ({"teams": {"vision": {"max_queued_jobs": "9"}}}, "setup.teams.vision.max_queued_jobs"),
        ({"pools": {"default": {"nodes": {"a/b": {}}}}}, "setup.pools.default.nodes.a/b"),
        ({"pools": {"default": {"dollars_per_gpu_hour": 1e300}}}, "dollars_per_gpu_hour"),
        ({"images": ["*/x"]}, "setup.images.0"),
        ({"teams": {"vision\n": {}}}, "setup.teams.vision"),
        ({"pools": {"default": {"prefetched_images": ["no image"]}}}, "prefetched_images"),
        ({"pools": {"p": {"nodes": {"n": {}}}}}, "pools.p.nodes.n.gpus"),
        ({"pools": {"p": {"policy": "best"}}}, "pools.p.policy"),
        ({"pools": {"p": {"policy_options": {"x": 1}}}}, "pools.p.policy_options"),
        ({"pools": {"p": {"all_reduce": [{"bytes": 1}]}}}, "pools.p.all_reduce"),
        ({"pools": {"p": {"nodes": {"node-1": {"gpus": 1}}, "prefetched_images": ["a", "a"]}}}, ""),
        ({"pools": {"p": {"nodes": {"n": {"gpus": 2, "gpu_uuids": ["x"]}}}}}, "gpu_uuids"),
        ({"pools": {"p": {"nodes": {"n": {"gpus": 2, "service_url": "ftp://x"}}}}}, "service_url"),
        ({"teams": {"vision": {"quotas": {"nowhere": {}}}}}, "teams.vision.quotas.nowhere"),
        ({"teams": {"vision": {"parent": "nobody"}}}, "teams.vision.parent"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_changed(
    setup: Any, place: str, vision: Team, admin: APIClient
) -> None:
    before = admin.get(URL).json()
    refused = asked(admin, "apply", setup)
    assert refused.status_code == 400, refused.json()
    assert any(place in field for field in places(refused)), refused.json()
    assert admin.get(URL).json() == before


def test_what_is_in_use_stays_and_it_is_said_by_whom(job: Job, admin: APIClient) -> None:
    run(job, workers=1)
    whole = exported(admin)
    del whole["pools"]["default"]["nodes"]["node-1"]
    whole["teams"]["vision"]["quotas"] = {}  # or too few GPUs are left
    refused = asked(admin, "preview", whole, prune=True)
    assert (refused.status_code, refused.json()["code"]) == (409, "in_use")
    assert places(refused) == ["pools.default.nodes.node-1"]
    assert f"vision/{job.name}" in refused.json()["message"]
    moved = {"pools": {"default": {"nodes": {"node-1": {"gpus": 3}}}}}
    assert places(asked(admin, "apply", moved)) == ["pools.default.nodes.node-1"]
    nothing = {"pools": {}, "teams": {}}
    refused = asked(admin, "apply", nothing, prune=True)
    assert refused.status_code == 409
    assert set(places(refused)) == {
        "pools.default.nodes.node-1",
        "pools.default",
        "teams.vision",
    }
    assert "has 1 job, 1 valid token" in str(refused.json()["details"])
    assert (Node.objects.count(), Quota.objects.count()) == (2, 1)


def test_a_team_with_schedules_stays(vision: Team, admin: APIClient, api: APIClient) -> None:
    body = {"name": "nightly", "spec": spec(), "cron": "0 2 * * *"}
    assert api.post("/api/v1/teams/vision/schedules", body, format="json").status_code == 201
    vision.tokens.all().delete()
    refused = asked(admin, "apply", {"teams": {}}, prune=True)
    assert (refused.status_code, places(refused)) == (409, ["teams.vision"])
    assert "has 1 schedule" in str(refused.json()["details"])


def test_gpus_that_jobs_use_keep_their_names(job: Job, admin: APIClient) -> None:
    def named(gpus: int, uuids: list[str]) -> Any:
        return {"pools": {"default": {"nodes": {"node-1": {"gpus": gpus, "gpu_uuids": uuids}}}}}

    assert asked(admin, "apply", named(2, ["GPU-a", "GPU-b"])).status_code == 200
    run(job, workers=1)
    for uuids in (["GPU-b", "GPU-a"], []):
        refused = asked(admin, "apply", named(2, uuids))
        assert (refused.status_code, refused.json()["code"]) == (409, "in_use"), uuids
        assert places(refused) == ["pools.default.nodes.node-1"]
    assert asked(admin, "apply", named(3, ["GPU-a", "GPU-b", "GPU-c"])).status_code == 200


def test_a_node_moves_to_another_pool_with_its_gpus(vision: Team, admin: APIClient) -> None:
    wanted = {"pools": {"other": {"nodes": {"node-2": {}}}}}
    answer = asked(admin, "apply", wanted)
    assert told(answer) == [("created", "pool/other"), ("changed", "node/node-2")]
    assert Node.objects.get(name="node-2").pool.name == "other"
    refused = asked(admin, "apply", {"pools": {"other": {"nodes": {"node-1": {}}}}})
    assert places(refused) == ["pools.default"]  # vision is guaranteed 4 there


def test_the_audit_log_says_what_changed_of_which_object(vision: Team, admin: APIClient) -> None:
    asked(admin, "apply", {"teams": {"vision": {"max_queued_jobs": 5}, "nlp": {}}})
    entry = AuditEntry.objects.get(operation="apply_setup")
    assert entry.before == {
        "changed team vision": {"max_queued_jobs": 1000},
        "created team nlp": {},
    }
    assert entry.after == {"changed team vision": {"max_queued_jobs": 5}, "created team nlp": {}}


def test_only_admins_see_and_change_it(api: APIClient, submit: SubmitJob) -> None:
    assert api.get(URL).status_code == 403
    for verb in ("preview", "apply"):
        assert asked(api, verb, {}).status_code == 403


def test_of_templates_and_defaults_the_audit_log_tells_the_fields(
    vision: Team, admin: APIClient
) -> None:
    own = {
        "templates": {"usual": {"spec": {"max_restarts": 2, "env": {"A": "4711"}}}},
        "rules": {"defaults": {"env": {"B": "4711"}}},
    }
    assert asked(admin, "apply", {"teams": {"vision": own}}).status_code == 200
    entry = AuditEntry.objects.get(operation="apply_setup")
    assert entry.after == {
        "changed team vision": {"rules.defaults": ["env"]},
        "created template usual of vision": {"spec": ["env", "max_restarts"]},
    }
    none = {"teams": {"vision": {"templates": {}}}}
    assert asked(admin, "apply", none, prune=True).status_code == 200
    assert "4711" not in str([(one.before, one.after) for one in AuditEntry.objects.all()])


def test_a_template_of_a_document_says_nothing_that_a_job_says_itself(
    vision: Team, admin: APIClient, api: APIClient
) -> None:
    templates = {"usual": {"spec": {"max_restarts": 2, "priority": 20}}}
    assert asked(admin, "apply", {"teams": {"vision": {"templates": templates}}}).status_code == 200
    for name, said, restarts in (("a", {"retry": {"max_restarts": 5}}, 5), ("b", {}, 2)):
        body = spec(name=name, template="usual", **said)
        found = api.post("/api/v1/jobs", body, format="json").json()["resolved_spec"]
        assert (found["retry"], found["priority"]) == ({"max_restarts": restarts}, 20)


def test_a_template_that_a_document_changes_is_another_version_of_another_day(
    vision: Team, admin: APIClient
) -> None:
    made = JobTemplate.objects.create(team=vision, name="usual", spec={}, changed_by="ada")
    templates = {"usual": {"spec": {"priority": 20}}}
    assert asked(admin, "apply", {"teams": {"vision": {"templates": templates}}}).status_code == 200
    found = JobTemplate.objects.get()
    assert (found.version, found.changed_by, found.spec) == (2, "", {"priority": 20})
    assert found.changed_at > made.changed_at


def test_a_team_has_no_more_templates_than_it_may_have(vision: Team, admin: APIClient) -> None:
    def templates(number: int) -> Any:
        return {"teams": {"vision": {"templates": {f"t{n}": {"spec": {}} for n in range(number)}}}}

    assert asked(admin, "apply", templates(100)).status_code == 200
    refused = asked(admin, "apply", templates(101))
    assert (refused.status_code, places(refused)) == (400, ["teams.vision.templates"])
    assert JobTemplate.objects.count() == 100
