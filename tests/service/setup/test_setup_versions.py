"""Is it known what the set-up was at a moment, whoever changed it?"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from cluster.models import Pool
from control_plane.setup import versions
from control_plane.tasks import keep_setup
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient
from tenancy.models import SetupVersion, Team

URL = "/api/v1/cluster/setup"


@pytest.fixture
def admin(admin_user: User) -> APIClient:
    client = APIClient()
    client.force_login(admin_user)
    return client


def then(admin: APIClient, moment: datetime) -> Any:
    answer = admin.get(URL, {"as_of": moment.isoformat()})
    assert answer.status_code == 200, answer.json()
    return answer.json()


def apply(admin: APIClient, setup: dict[str, Any]) -> None:
    answer = admin.post(f"{URL}:apply", {"setup": setup}, format="json")
    assert answer.status_code == 200, answer.json()


def test_what_is_applied_is_known_from_then_on(admin: APIClient, vision: Team) -> None:
    apply(admin, {"teams": {"vision": {"max_queued_jobs": 7}}})
    first = timezone.now()
    apply(admin, {"teams": {"vision": {"max_queued_jobs": 8}}})
    apply(admin, {"teams": {"vision": {"max_queued_jobs": 8}}})
    assert then(admin, first)["setup"]["teams"]["vision"]["max_queued_jobs"] == 7
    assert then(admin, timezone.now()) == admin.get(URL).json()
    assert SetupVersion.objects.count() == 2


def test_what_was_can_be_applied_again(admin: APIClient, pool: Pool, vision: Team) -> None:
    keep_setup()
    before = then(admin, timezone.now())
    apply(admin, {"pools": {"default": {"gpu_type": "h100", "fair_share": {"usage_weight": 0.5}}}})
    apply(admin, before["setup"])
    assert admin.get(URL).json() == before


def test_what_changes_by_another_way_is_noticed_once(admin: APIClient, vision: Team) -> None:
    keep_setup()
    Team.objects.filter(name="vision").update(max_queued_jobs=9)
    for _ in range(3):
        keep_setup()
    now = timezone.now()
    assert then(admin, now)["setup"]["teams"]["vision"]["max_queued_jobs"] == 9
    assert SetupVersion.objects.count() == 2


def test_to_look_whether_something_changed_takes_the_same_few_statements(
    vision: Team, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    keep_setup()
    with django_assert_num_queries(8) as few:
        keep_setup()
    Team.objects.bulk_create([Team(name=f"t{number}") for number in range(30)])
    keep_setup()
    with django_assert_num_queries(len(few)):
        keep_setup()


def test_a_clock_that_steps_back_leaves_versions_in_their_order(
    admin: APIClient, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep_setup()
    kept = SetupVersion.objects.get()
    monkeypatch.setattr(timezone, "now", lambda: kept.since - timedelta(days=1))
    Team.objects.filter(name="vision").update(max_queued_jobs=9)
    assert versions.keep_what_changed()
    newest = SetupVersion.objects.first()
    assert newest is not None
    assert newest.since > kept.since
    assert newest.setup["teams"]["vision"]["max_queued_jobs"] == 9


def test_what_nobody_wrote_down_is_refused(admin: APIClient, vision: Team) -> None:
    def problem(moment: datetime) -> str:
        answer = admin.get(URL, {"as_of": moment.isoformat()})
        assert answer.status_code == 400
        return str(answer.json()["details"][0]["problem"])

    long_ago = timezone.now() - timedelta(days=3)
    assert problem(long_ago) == "No set-up was written down yet."
    keep_setup()
    since = SetupVersion.objects.get().since
    assert problem(long_ago) == f"No set-up was written down before {since:%Y-%m-%dT%H:%M:%SZ}."


def test_old_versions_go_but_for_the_one_that_held_then(vision: Team) -> None:
    now = timezone.now()
    for days in (50, 40, 20, 1):
        SetupVersion.objects.create(since=now - timedelta(days=days), version=str(days), setup={})

    def erase(rows: Any) -> int:
        return int(rows.delete()[0])

    assert versions.delete_old(timedelta(days=30), erase=erase) == 1
    assert versions.delete_old(timedelta(days=30), erase=erase) == 0
    assert {row.version for row in SetupVersion.objects.all()} == {"40", "20", "1"}
