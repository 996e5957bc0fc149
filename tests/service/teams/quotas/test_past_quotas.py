"""Is each version of a quota known, whoever changed it, and told for any moment?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from cluster.models import Pool
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from tenancy.models import Quota, QuotaVersion, Team

URL = "/api/v1/teams/vision/quotas"


def now() -> datetime:
    """Return the database's time, whose clock triggers read."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def guarantees(api: APIClient, as_of: datetime) -> list[tuple[str, int]]:
    answer = api.get(URL, {"as_of": as_of.isoformat()})
    assert answer.status_code == 200, answer.content
    return [(quota["pool"], quota["guaranteed_gpus"]) for quota in answer.json()["items"]]


def test_each_version_is_told_for_the_time_in_which_it_held(
    foreign_api: APIClient, vision: Team, pool: Pool
) -> None:
    first = now()
    Quota.objects.filter(team=vision).update(guaranteed_gpus=5)  # past all of the service's code
    second = now()
    Quota.objects.get(team=vision).delete()
    third = now()
    Quota.objects.create(team=vision, pool=pool, guaranteed_gpus=1)
    told = [guarantees(foreign_api, as_of=one) for one in (first, second, third, now())]
    assert told == [[("default", 4)], [("default", 5)], [], [("default", 1)]]
    later = datetime.now(UTC) + timedelta(days=400)
    assert guarantees(foreign_api, as_of=later) == told[-1]


def test_all_that_a_quota_says_is_kept(foreign_api: APIClient, vision: Team) -> None:
    as_it_is = foreign_api.get(URL).json()
    moment = now()
    Quota.objects.filter(team=vision).update(
        limit_gpus=None, guaranteed_gpus=2, lending_limit_gpus=1, over_quota_weight=0.5
    )
    assert foreign_api.get(URL, {"as_of": moment.isoformat()}).json() == as_it_is
    assert foreign_api.get(URL, {"as_of": now().isoformat()}).json() == foreign_api.get(URL).json()


def test_what_changes_nothing_leaves_no_version(vision: Team) -> None:
    before = QuotaVersion.objects.count()
    Quota.objects.get(team=vision).save()
    assert QuotaVersion.objects.count() == before


def test_a_clock_that_steps_back_leaves_no_version_that_ends_before_it_begins(
    foreign_api: APIClient, vision: Team
) -> None:
    ahead = now() + timedelta(hours=1)
    QuotaVersion.objects.filter(team=vision).update(since=ahead)
    Quota.objects.filter(team=vision).update(guaranteed_gpus=5)
    former, current = QuotaVersion.objects.filter(team=vision).order_by("id")
    assert (former.since, former.until, current.since) == (ahead, ahead, ahead)
    assert guarantees(foreign_api, as_of=ahead) == [("default", 5)]


def test_versions_go_with_their_team(pool: Pool) -> None:
    team = Team.objects.create(name="robots")
    Quota.objects.create(team=team, pool=pool)
    team.delete()
    assert not QuotaVersion.objects.filter(pool="default").exclude(team__in=Team.objects.all())


@pytest.mark.parametrize(
    ("as_of", "says"),
    [
        ("2001-01-01T00:00:00Z", "No quota was written down before"),
        ("yesterday", "Datetime has wrong format"),
        ("", "Datetime has wrong format"),
        ("99999-01-01", "Datetime has wrong format"),
    ],
)
def test_what_nobody_can_know_is_refused_in_words(
    foreign_api: APIClient, vision: Team, as_of: str, says: str
) -> None:
    answer = foreign_api.get(URL, {"as_of": as_of})
    assert answer.status_code == 400
    assert says in str(answer.json())


def test_the_past_of_a_team_that_is_not_there_is_not_there(foreign_api: APIClient) -> None:
    assert foreign_api.get("/api/v1/teams/nobody/quotas", {"as_of": now()}).status_code == 404


def test_the_past_costs_as_few_statements_as_today_however_often_a_quota_changed(
    foreign_api: APIClient, vision: Team
) -> None:
    with CaptureQueriesContext(connection) as today:
        foreign_api.get(URL)
    for guaranteed in range(4):
        Quota.objects.filter(team=vision).update(guaranteed_gpus=guaranteed)
    moment = now()
    with CaptureQueriesContext(connection) as past:
        assert guarantees(foreign_api, as_of=moment) == [("default", 3)]
    assert len(past) == len(today)
