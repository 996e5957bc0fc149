"""Are /prefetched-images and /prefetched-images/{number} as promised?"""

from __future__ import annotations

from typing import Any

import pytest
from cluster.models import Pool, PrefetchedImage
from django.contrib.auth.models import User
from rest_framework.test import APIClient

URL = "/api/v1/prefetched-images"


@pytest.fixture
def admin_api(admin_user: User, pool: Pool) -> APIClient:
    client = APIClient()
    client.force_authenticate(admin_user)
    return client


def add(admin_api: APIClient, **body: Any) -> Any:
    return admin_api.post(URL, {"pool": "default", **body}, format="json")


def test_an_admin_has_an_image_fetched_sees_where_it_is_and_takes_that_back(
    admin_api: APIClient,
) -> None:
    made = add(admin_api)
    assert made.status_code == 201
    address = f"{URL}/{made.json()['id']}"
    PrefetchedImage.objects.update(notes={"node-1": "", "node-2": "fetching image a:1"})
    told = {
        "id": made.json()["id"],
        "pool": "default",
        "image": "",
        "nodes": [
            {"node": "node-1", "note": ""},
            {"node": "node-2", "note": "fetching image a:1"},
        ],
    }
    assert admin_api.get(URL).json() == {"items": [told]}
    assert admin_api.get(address).json() == told
    assert admin_api.delete(address).status_code == 204
    assert not PrefetchedImage.objects.exists()
    assert admin_api.get(address).status_code == 404


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
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
    assert PrefetchedImage.objects.count() == 1


def test_only_admins_see_and_change_which_images_are_fetched(api: APIClient, pool: Pool) -> None:
    address = f"{URL}/{PrefetchedImage.objects.create(pool=pool).pk}"
    assert api.get(URL).status_code == api.get(address).status_code == 403
    assert api.post(URL, {"pool": "default"}, format="json").status_code == 403
    assert api.delete(address).status_code == 403
    assert api.put(address, {"pool": "default"}, format="json").status_code == 405
    assert APIClient().get(URL).status_code == 401


def test_who_comes_second_at_the_same_moment_is_told_so(
    admin_api: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    check = PrefetchedImage.full_clean

    def check_then_be_late(self: PrefetchedImage) -> None:
        check(self)
        PrefetchedImage.objects.create(pool=self.pool, image=self.image)

    monkeypatch.setattr(PrefetchedImage, "full_clean", check_then_be_late)
    answer = add(admin_api)
    assert (answer.status_code, answer.json()["code"]) == (409, "conflict")
