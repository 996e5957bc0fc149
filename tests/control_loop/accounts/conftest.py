"""What ticks wrote down around a noon."""

from __future__ import annotations

import pytest

from autoscaler.gpu_accounts.closing import HOUR
from autoscaler.gpu_accounts.models import (
    AccountedJob,
    AccountsClock,
    CapacitySpan,
    HeldSpan,
    PromiseSpan,
)
from tests.control_loop.accounts.noon import NOON


@pytest.fixture
def recorded() -> AccountedJob:
    """From half past ten on there are eight GPUs; from eleven to a quarter past twelve, a job."""
    account = AccountedJob.objects.create(
        job="a1", pool="default", team="vision", user="ada", name="digits", labels={"for": "mia"}
    )
    began = NOON - HOUR * 1.5
    CapacitySpan.objects.create(pool="default", gpus=8, since=began)
    for team, guaranteed in (("vision", 2), ("language", 6)):
        PromiseSpan.objects.create(
            pool="default", team=team, guaranteed_gpus=guaranteed, since=began
        )
    HeldSpan.objects.create(
        job=account,
        gpus=4,
        starting_gpus=0,
        priority=50,
        generation=1,
        since=NOON - HOUR,
        until=NOON + HOUR / 4,
        stall_seconds=36.0,
    )
    AccountsClock.objects.create(pk=1, at=NOON + HOUR)
    return account
