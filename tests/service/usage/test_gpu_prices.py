"""Do admins say what a GPU-hour costs from which day on, and do reports of the past stay?"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.models import AuditEntry

from autoscaler.gpu_accounts import pricing
from autoscaler.gpu_accounts.models import AccountOwner, GpuPrice

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pool")]
PRICES = "/api/v1/gpu-prices"
TODAY = datetime.now(UTC).date()
TOMORROW = TODAY + timedelta(days=1)


@pytest.fixture
def admin_api(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def put(client: APIClient, pool: str, since: object, price: Any = 2.5, **more: Any) -> Any:
    body = {"per_gpu_hour": price, **more}
    return client.put(f"{PRICES}/{pool}/{since}", body, format="json")


def test_a_price_holds_from_its_day_until_that_of_the_next(
    admin_api: APIClient, api: APIClient
) -> None:
    assert put(admin_api, "default", TODAY, 2.5).json()["is_current"] is True
    made = put(admin_api, "default", TOMORROW, 3).json()
    assert made == {
        "pool": "default",
        "since": TOMORROW.isoformat(),
        "until": None,
        "per_gpu_hour": 3.0,
        "is_current": False,
    }
    first, second = api.get(PRICES).json()["items"]
    assert (first["per_gpu_hour"], first["until"]) == (2.5, second["since"])
    assert api.get(PRICES, {"pool": "other"}).json()["items"] == []
    assert admin_api.delete(f"{PRICES}/default/{TOMORROW}").status_code == 204
    assert [one["until"] for one in api.get(PRICES).json()["items"]] == [None]


def test_the_list_takes_one_statement_whatever_its_length(api: APIClient) -> None:
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(50)]
    GpuPrice.objects.bulk_create(GpuPrice(pool="p", since=one, per_gpu_hour=1) for one in days)
    with CaptureQueriesContext(connection) as few:
        api.get(PRICES, {"pool": "none"})
    with CaptureQueriesContext(connection) as many:
        assert len(api.get(PRICES).json()["items"]) == 50
    assert len(many) == len(few)


def test_the_past_is_changed_only_by_who_says_so(admin_api: APIClient) -> None:
    answer = put(admin_api, "default", "2026-01-01")
    assert (answer.status_code, answer.json()["code"]) == (409, "changes_past")
    assert "changes_past" in answer.json()["message"]
    assert put(admin_api, "default", "2026-01-01", changes_past=True).status_code == 200
    assert put(admin_api, "default", "2026-01-01").status_code == 200  # which changes nothing
    gone = f"{PRICES}/default/2026-01-01"
    assert admin_api.delete(gone).json()["code"] == "changes_past"
    assert admin_api.delete(f"{gone}?changes_past=true").status_code == 204
    assert admin_api.delete(f"{gone}?changes_past=true").status_code == 404


def test_the_audit_log_has_what_it_was_and_what_it_is(admin_api: APIClient) -> None:
    put(admin_api, "default", TODAY, 2.5)
    put(admin_api, "default", TODAY, 3)
    row = AuditEntry.objects.filter(operation="set_gpu_price").latest("pk")
    assert (row.before["per_gpu_hour"], row.after["per_gpu_hour"]) == (2.5, 3.0)
    assert row.target == f"gpu-prices/default/{TODAY}"
    admin_api.delete(f"{PRICES}/default/{TODAY}")
    row = AuditEntry.objects.get(operation="delete_gpu_price")
    assert (row.before["per_gpu_hour"], row.after) == (3.0, None)


def test_a_pool_that_is_gone_is_priced_as_long_as_accounts_know_it(admin_api: APIClient) -> None:
    assert put(admin_api, "gone", TODAY).status_code == 404
    AccountOwner.objects.create(pool="gone", team="vision")
    assert put(admin_api, "gone", TODAY).status_code == 200


@pytest.mark.parametrize("price", [-1, 1e6, 1e-7, None, "cow", True, "Infinity", [1]])
def test_what_is_no_price_is_refused(admin_api: APIClient, price: Any) -> None:
    assert put(admin_api, "default", TODAY, price).status_code == 400
    assert not GpuPrice.objects.exists()


@pytest.mark.parametrize("day", ["cow", "20261101", "2026-02-30", "1999-12-31", "2026-W01-1"])
def test_what_is_no_day_is_refused(admin_api: APIClient, day: str) -> None:
    answer = put(admin_api, "default", day)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "since")


def test_there_are_only_so_many(admin_api: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pricing, "MOST_PRICES", 1)
    put(admin_api, "default", TODAY)
    assert put(admin_api, "default", TOMORROW).json()["code"] == "too_many_prices"
    assert put(admin_api, "default", TODAY, 4).status_code == 200


def test_only_admins_set_prices(api: APIClient) -> None:
    assert put(api, "default", TODAY).status_code == 403
    assert api.delete(f"{PRICES}/default/{TODAY}").status_code == 403
