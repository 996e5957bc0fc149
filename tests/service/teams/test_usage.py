"""Does usage of the past decay as it should, however often it is looked at?"""

from __future__ import annotations

from datetime import timedelta

import pytest
from cluster.models import Pool
from django.utils import timezone
from tenancy import usage
from tenancy.models import DecayedUsage, FairShareSettings, Team

HOUR = 3600.0


def test_usage_halves_every_half_life() -> None:
    assert usage.decayed(100.0, gpus=0, seconds=HOUR, half_life_seconds=HOUR) == 50.0


def test_two_looks_are_as_good_as_one() -> None:
    once = usage.decayed(7.0, gpus=3, seconds=HOUR, half_life_seconds=2 * HOUR)
    first = usage.decayed(7.0, gpus=3, seconds=HOUR / 4, half_life_seconds=2 * HOUR)
    twice = usage.decayed(first, gpus=3, seconds=3 * HOUR / 4, half_life_seconds=2 * HOUR)
    assert twice == pytest.approx(once)


def test_little_decays_within_a_short_time() -> None:
    grown = usage.decayed(0.0, gpus=4, seconds=10.0, half_life_seconds=48 * HOUR)
    assert grown == pytest.approx(40.0, rel=1e-3)


def test_sums_are_kept_by_pool_and_team_with_the_pools_half_life(vision: Team, pool: Pool) -> None:
    FairShareSettings.objects.create(pool=pool, half_life_hours=1.0)
    start = timezone.now()
    usage.record({(pool.pk, vision.pk): 2}, start)
    usage.record({(pool.pk, vision.pk): 2}, start + timedelta(seconds=60))
    row = DecayedUsage.objects.get()
    assert row.gpu_seconds == pytest.approx(120.0, rel=0.01)
    usage.record({}, start + timedelta(seconds=60 + HOUR))
    (left,) = usage.gpu_seconds().values()
    assert left == pytest.approx(row.gpu_seconds / 2)
    usage.record({}, start)  # a look that comes late changes nothing
    assert usage.gpu_seconds() == {(pool.pk, vision.pk): left}
