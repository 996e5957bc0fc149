"""Is GET /pools as promised?"""

from __future__ import annotations

from cluster.models import Pool
from django.utils import timezone
from rest_framework.test import APIClient

from autoscaler.control_loop.models import Tick
from jobs.models import Job
from tests.service.conftest import run

URL = "/api/v1/pools"


def test_a_pool_tells_its_nodes_and_who_holds_which_gpu(api: APIClient, job: Job) -> None:
    run(job, workers=2)
    (pool,) = api.get(URL).json()["items"]
    assert (pool["name"], pool["gpus_total"], pool["gpus_used"]) == ("default", 8, 2)
    first, second = pool["nodes"]
    assert (first["name"], first["gpus"], second["claims"]) == ("node-1", 4, [])
    assert first["claims"][1] == {
        "gpu_index": 1,
        "team": "vision",
        "worker": f"{job.id}-1-2",
        "job_id": job.id,
        "job_name": "digits",
    }


def test_a_pool_tells_how_it_is_planned(api: APIClient) -> None:
    Pool.objects.update(
        policy="scaling_efficiency",
        policy_options={"threshold": 0.2},
        admission="dropping",
        dollars_per_gpu_hour=3,
    )
    (pool,) = api.get(URL).json()["items"]
    assert (pool["policy"], pool["policy_options"]) == ("scaling_efficiency", {"threshold": 0.2})
    assert (pool["admission"], pool["dollars_per_gpu_hour"]) == ("dropping", 3.0)


def test_other_teams_see_whose_a_gpu_is_but_not_which_jobs(
    foreign_api: APIClient, job: Job
) -> None:
    run(job, workers=1)
    (claim,) = foreign_api.get(URL).json()["items"][0]["nodes"][0]["claims"]
    assert claim == {
        "gpu_index": 0,
        "team": "vision",
        "worker": None,
        "job_id": None,
        "job_name": None,
    }


def test_the_newest_tick_gives_price_and_gap(api: APIClient) -> None:
    assert api.get(URL).json()["items"][0]["price"] is None
    Tick.objects.create(
        at=timezone.now(),
        fence=1,
        observe_seconds=0,
        plan_seconds=0,
        apply_seconds=0,
        pools=[{"pool": "default", "price": 0.5, "gap": 0.0}, {"pool": "gone", "price": 1.0}],
    )
    pool = api.get(URL).json()["items"][0]
    assert (pool["price"], pool["gap"]) == (0.5, 0.0)


def test_pools_need_a_token_and_the_right_method(api: APIClient) -> None:
    assert APIClient().get(URL).status_code == 401
    assert api.put(URL).status_code == 405


def test_the_policies_that_a_pool_may_have_are_told_with_their_options(api: APIClient) -> None:
    found = {one["name"]: one for one in api.get("/api/v1/policies").json()["items"]}
    assert found["static"]["summary"].startswith("gives the requested workers")
    assert found["throughput"]["options"] == []
    (threshold,) = found["scaling_efficiency"]["options"]
    assert (threshold["name"], threshold["choices"]) == ("threshold", [])
    (batch,) = found["fixed_batch"]["options"]
    assert batch["default"] in batch["choices"]
