"""Is GET /teams/{name}/standing as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Pool
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import DecayedUsage, FairShareSettings, Quota, Team

from tests.service.conftest import SubmitJob, run

URL = "/api/v1/teams/vision/standing"


def standing(api: APIClient, team: str = "vision") -> dict[str, Any]:
    answer = api.get(f"/api/v1/teams/{team}/standing")
    assert answer.status_code == 200
    (row,) = answer.json()["items"]
    return dict(row)


def test_a_borrowers_standing_tells_what_it_may_lose(
    api: APIClient, submit: SubmitJob, vision: Team, language: Team
) -> None:
    run(submit(elastic={"max_workers": 5}), workers=4)
    submit(name="waits", elastic={"min_workers": 2, "max_workers": 4})
    Quota.objects.filter(team=vision).update(guaranteed_gpus=1)
    Quota.objects.filter(team=language).update(guaranteed_gpus=6, lending_limit_gpus=2)
    DecayedUsage.objects.create(
        pool=Pool.objects.get(), team=vision, gpu_seconds=3600.0, at=timezone.now()
    )
    assert standing(api) == {
        "pool": "default",
        "guaranteed": 1,
        "limit": 6,
        "fair_share": 4,  # language never lends 4 of its 6
        "allocated": 4,
        "borrowed": 3,
        "lent": 0,
        "reserved": 0,
        "pending_request": 2,
        "reclaim_exposure": 2,  # one of the borrowed is guaranteed to nobody
        "usage_decayed": 3600.0,
        "share_rank": 2,
    }
    other = standing(api, "language")
    assert (other["lent"], other["reserved"], other["share_rank"]) == (2, 4, 1)


def test_with_target_fair_share_exposure_reaches_to_the_share_of_all(
    api: APIClient, submit: SubmitJob, vision: Team, language: Team
) -> None:
    FairShareSettings.objects.create(pool=Pool.objects.get(), reclaim_target="fair_share")
    Quota.objects.update(guaranteed_gpus=0)
    run(submit(elastic={"max_workers": 5}), workers=4)
    assert standing(api)["reclaim_exposure"] == 0
    Quota.objects.filter(team=language).update(over_quota_weight=3.0)
    assert standing(api)["reclaim_exposure"] == 2


def test_one_row_per_pool_or_only_the_pool_asked_for(api: APIClient) -> None:
    Pool.objects.create(name="other")
    assert {row["pool"] for row in api.get(URL).json()["items"]} == {"default", "other"}
    assert [row["pool"] for row in api.get(URL, {"pool": "other"}).json()["items"]] == ["other"]


@pytest.mark.parametrize("path", ["nobody/standing", "vision/standing?pool=none"])
def test_what_is_not_there_is_not_found(api: APIClient, path: str) -> None:
    assert api.get(f"/api/v1/teams/{path}").status_code == 404


def test_standing_needs_a_token_and_the_right_method(api: APIClient) -> None:
    assert APIClient().get(URL).status_code == 401
    assert api.post(URL).status_code == 405
