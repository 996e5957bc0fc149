"""Jobs that name several pools: what is refused, where they are listed, how they are changed."""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Node, Pool
from rest_framework.test import APIClient
from tenancy.access.keys import tokens
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import Quota, Team

from jobs.errors import SpecInvalid
from jobs.models import Job
from jobs.spec.changes import changed
from jobs.spec.job_spec import parse
from jobs.spec.rules.merging import filled
from tests.service.conftest import SubmitJob, run, spec
from tests.service.rules.conftest import add_template, set_rules
from tests.service.schedules import conftest as schedules
from tests.service.sweeps import conftest as sweeps

REFUSED: dict[str, tuple[dict[str, Any], str, str]] = {
    "no pool at all": ({"pools": []}, "pools", "is empty"),
    "one without a name": ({"pools": [""]}, "pools[0]", "is empty"),
    "a pool twice": ({"pools": ["a", "b", "a"]}, "pools", "names a more than once"),
    "too many": ({"pools": [f"p{n}" for n in range(9)]}, "pools", "is too long"),
    "a name that is too long": ({"pools": ["a" * 41]}, "pools[0]", "is too long"),
    "both": ({"pool": "a", "pools": ["a", "b"]}, "pools", "stands beside pool: a"),
    "a text": ({"pools": "a,b"}, "pools", "is not a list"),
}


@pytest.mark.parametrize(("changes", "field", "problem"), REFUSED.values(), ids=REFUSED)
def test_what_makes_no_sense_is_refused(changes: dict[str, Any], field: str, problem: str) -> None:
    with pytest.raises(SpecInvalid) as refused:
        parse(spec(**changes))
    (found,) = refused.value.problems
    assert found.field == field
    assert problem in found.problem
    assert found.remedy


def test_whoever_says_one_of_both_has_said_the_other() -> None:
    assert filled({"pools": ["a", "b"]}, {"pool": "c"}) == {"pools": ["a", "b"]}
    assert filled({"pool": "a"}, {"pools": ["b", "c"]}) == {"pool": "a"}
    assert filled({}, {"pools": ["b", "c"]}) == {"pools": ["b", "c"]}
    assert filled({"pool": None}, {"pools": ["b"]}) == {"pool": None, "pools": ["b"]}


def test_a_change_of_one_takes_the_place_of_the_other() -> None:
    one = parse(spec(team="vision", pool="a")).resolved(team="vision", pool="a")
    several, found = changed(one, {"pools": ["a", "b"]})
    assert several.named_pools == ("a", "b")
    assert {change.field for change in found} == {"pool", "pools"}
    resolved = several.resolved(team="vision", pool="a")
    assert (resolved["pool"], resolved["pools"]) == ("", ["a", "b"])
    back, _ = changed(resolved, {"pool": "b"})
    assert back.named_pools == ("b",)


@pytest.fixture
def fast(vision: Team) -> Pool:
    """A second pool, with fewer GPUs."""
    made = Pool.objects.create(name="fast")
    Node.objects.create(pool=made, name="fast-1", gpus=2)
    Quota.objects.create(team=vision, pool=made, guaranteed_gpus=1)
    return made


def problems(api: APIClient, **changes: Any) -> dict[str, tuple[str, str]]:
    answer = api.post("/api/v1/jobs", spec(**changes), format="json")
    assert answer.status_code == 422, answer.json()
    details = answer.json()["details"]
    return {one["field"]: (one["problem"], one["remedy"]) for one in details}


def names(api: APIClient, **asked: Any) -> set[str]:
    return {one["name"] for one in api.get("/api/v1/jobs", asked).json()["items"]}


def test_each_pool_has_to_be_there_and_to_be_large_enough(api: APIClient, fast: Pool) -> None:
    unknown = problems(api, pools=["default", "nowhere"])
    assert unknown == {"pools[1]": ("is not a pool of this platform", "Use one of: default, fast.")}
    large = problems(
        api, pools=["default", fast.name], elastic={"min_workers": 3, "max_workers": 4}
    )
    problem, remedy = large["elastic.min_workers"]
    assert "pool fast is 2" in problem
    assert remedy.endswith("or leave the pool out of pools.")


def test_a_waiting_job_is_listed_under_each_of_its_pools_and_another_under_its_own(
    api: APIClient, submit: SubmitJob, fast: Pool
) -> None:
    job = submit(pools=["default", fast.name])
    submit(name="elsewhere", pool="default")
    assert names(api, pool="fast") == {"digits"}
    assert names(api, pool="default") == {"digits", "elsewhere"}
    run(job, workers=1)
    assert names(api, pool="fast") == set()
    assert names(api, pool="default") == {"digits", "elsewhere"}


def test_where_it_waits_can_be_changed_while_it_waits(
    api: APIClient, submit: SubmitJob, fast: Pool
) -> None:
    job = submit(pool="default")
    assert job.pool.name == "default"
    url = f"/api/v1/jobs/{job.id}"
    assert api.patch(url, {"pools": [fast.name]}, format="json").status_code == 200
    moved = Job.objects.get(pk=job.id)
    assert moved.pool == fast
    assert moved.resolved_spec["pools"] == ["fast"]
    assert api.patch(url, {"pools": ["default", "fast"]}, format="json").status_code == 200
    assert Job.objects.get(pk=job.id).pool == fast
    run(moved, workers=1)
    refused = api.patch(url, {"pool": "default"}, format="json")
    assert refused.status_code == 422
    assert "Pause the job first" in refused.content.decode()


def test_a_change_of_something_else_leaves_it_where_it_is_though_its_pools_were_renamed(
    api: APIClient, submit: SubmitJob, fast: Pool
) -> None:
    job = submit(pools=["default", fast.name])
    run(job, workers=1)
    url = f"/api/v1/jobs/{job.id}"
    Pool.objects.filter(pk=job.pool_id).update(name="renamed")
    for priority in (60, 61):
        assert api.patch(url, {"priority": priority}, format="json").status_code == 200
        changed = Job.objects.get(pk=job.id)
        assert (changed.pool_id, changed.priority) == (job.pool_id, priority)
        assert changed.resolved_spec["pools"] == ["default", "fast"]
        Pool.objects.filter(pk=fast.pk).update(name="renamed-too")


def test_templates_and_defaults_of_a_team_may_say_pools(
    api: APIClient, vision: Team, fast: Pool, admin_user: Any
) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    assert set_rules(admin, vision.name, defaults={"pools": ["fast", "default"]}).status_code == 200
    assert add_template(admin, "anywhere", {"pools": ["default", "fast"]}).status_code == 201
    assert add_template(admin, "one", {"pool": "default"}).status_code == 201
    both = add_template(admin, "both", {"pool": "default", "pools": ["fast"]})
    assert both.status_code == 422, both.json()

    def pools_of(**said: Any) -> Any:
        answer = api.post("/api/v1/jobs:validate", spec(**said), format="json").json()
        assert answer["problems"] == [], answer
        return answer["resolved_spec"]["pool"], answer["resolved_spec"]["pools"]

    assert pools_of() == ("", ["fast", "default"])
    assert pools_of(template="anywhere") == ("", ["default", "fast"])
    assert pools_of(template="one") == ("default", None)
    assert pools_of(template="anywhere", pool="fast") == ("fast", None)


def test_schedules_arrays_and_sweeps_carry_them(api: APIClient, fast: Pool) -> None:
    where = ["fast", "default"]
    nightly = schedules.add_by(api, spec=spec(name="nightly", pools=where))
    schedules.go_when_due(nightly)
    array = spec(name="many", pools=where, array={"parameters": {"seed": "0..2"}})
    made = api.post("/api/v1/jobs:bulk", {"spec": array | {"seed": "{{seed}}"}}, format="json")
    assert made.status_code == 201, made.json()
    sweep = sweeps.wanted() | {"name": "search", "pools": where}
    assert api.post(sweeps.PATH, sweep, format="json").status_code == 201
    sweeps.go()
    jobs = list(Job.objects.select_related("pool"))
    assert {job.name.partition("-")[0] for job in jobs} == {"nightly", "many", "search"}
    assert {job.pool.name for job in jobs} == {"fast"}
    assert [job.resolved_spec["pools"] for job in jobs] == [where] * len(jobs)


def test_a_token_limited_to_one_pool_submits_for_no_other(
    api: APIClient, vision: Team, fast: Pool
) -> None:
    _, key = tokens.issue(team=vision, name="narrow", bounds=TokenBounds(pools=("default",)))
    narrow = APIClient()
    narrow.credentials(HTTP_AUTHORIZATION=f"Bearer {key}")
    refused = problems(narrow, pools=["default", fast.name])
    problem, remedy = refused["pools[1]"]
    assert "not one that this token is limited to" in problem
    assert remedy == "Leave it out of pools, or use another token."
    assert narrow.post("/api/v1/jobs", spec(pools=["default"]), format="json").status_code == 201


def test_the_rule_for_pools_of_a_team_holds_for_each(
    api: APIClient, vision: Team, fast: Pool, admin_user: Any
) -> None:
    admin = APIClient()
    admin.force_login(admin_user)
    assert set_rules(admin, vision.name, pools=["default"]).status_code == 200
    refused = problems(api, pools=["default", fast.name])
    assert "rule pools of team vision" in refused["pools[1]"][0]


def test_the_planner_says_in_which_pool_it_would_start(api: APIClient, fast: Pool) -> None:
    """Four GPUs are more than two, as long as nobody knows which are faster."""
    url = "/api/v1/jobs:validate?outlook=true"
    answer = api.post(url, spec(name="new", pools=[fast.name, "default"]), format="json").json()
    found = answer["outlook"]
    assert (found["action"], found["pool"]) == ("start", "default")
    assert "Its pools, best first: default (chosen)" in found["message"]
