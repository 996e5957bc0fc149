"""Are /warm-pools and /warm-pools/{number} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Pool, WarmPool
from django.contrib.auth.models import User
from rest_framework.test import APIClient

URL = "/api/v1/warm-pools"


@pytest.fixture
def admin_api(admin_user: User, pool: Pool) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def add(admin_api: APIClient, **body: Any) -> Any:
    return admin_api.post(URL, {"pool": "default", "size": 2, **body}, format="json")


def test_an_admin_has_containers_wait_and_sees_it(admin_api: APIClient) -> None:
    made = add(admin_api)
    assert made.status_code == 201
    number = made.json()["id"]
    WarmPool.objects.update(observed={"node-1": {"warm": 1, "note": "one is starting"}})
    told = {
        "id": number,
        "pool": "default",
        "image": "",
        "size": 2,
        "nodes": [{"node": "node-1", "warm": 1, "note": "one is starting"}],
    }
    assert admin_api.get(URL).json() == {"items": [told]}
    assert admin_api.get(f"{URL}/{number}").json() == told


def test_an_admin_changes_the_size_and_what_the_loop_saw_stays(admin_api: APIClient) -> None:
    address = f"{URL}/{add(admin_api, image='mine:1').json()['id']}"
    WarmPool.objects.update(observed={"node-1": {"warm": 2, "note": ""}})
    changed = admin_api.patch(address, {"size": 5}, format="json").json()
    assert (changed["image"], changed["size"]) == ("mine:1", 5)
    assert changed["nodes"] == [{"node": "node-1", "warm": 2, "note": ""}]
    assert admin_api.delete(address).status_code == 204
    assert not WarmPool.objects.exists()
    assert admin_api.get(address).status_code == 404


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no size": ({"size": None}, "may not be null"),
    "too many": ({"size": 17}, "less than or equal to 16"),
    "fewer than none": ({"size": -1}, "greater than or equal to 0"),
    "a pool that is not there": ({"pool": "none"}, "none does not exist"),
    "what names no image": ({"image": "a b c"}, "is not an image's name"),
    "an image twice in a pool": ({"image": "mine:1"}, "already exists"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_is_refused(admin_api: APIClient, sentence: str) -> None:
    body, message = REFUSED[sentence]
    assert add(admin_api, image="mine:1").status_code == 201
    answer = add(admin_api, **body)
    assert answer.status_code == 400
    assert message in answer.content.decode()
    assert WarmPool.objects.count() == 1


def test_only_admins_see_and_change_what_waits(api: APIClient, pool: Pool) -> None:
    address = f"{URL}/{WarmPool.objects.create(pool=pool, size=1).pk}"
    body = {"pool": "default", "size": 2}
    assert api.get(URL).status_code == api.get(address).status_code == 403
    assert api.post(URL, body, format="json").status_code == 403
    assert api.patch(address, body, format="json").status_code == 403
    assert api.delete(address).status_code == 403
    assert api.put(address, body, format="json").status_code == 405
    assert APIClient().get(URL).status_code == 401


def test_who_comes_second_at_the_same_moment_is_told_so(
    admin_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = WarmPool.full_clean

    def check_then_be_late(self: WarmPool) -> None:
        check(self)
        WarmPool.objects.create(pool=self.pool, image=self.image, size=1)

    monkeypatch.setattr(WarmPool, "full_clean", check_then_be_late)
    answer = add(admin_api)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
