"""What a worker says of itself between a loss and the next generation."""

from __future__ import annotations

from dataclasses import replace

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link.coordinator_line import CoordinatorLine
from concertina_worker.membership.membership import WorkerMembership
from tests.worker.gathering import a_plan


def test_a_plan_this_worker_never_got_into_is_not_its_generation() -> None:
    platform = Platform(worker_id="w1", attempt=1, token="t", host="127.0.0.1", port=1)
    membership = WorkerMembership(CoordinatorLine(platform, GpuOffer(), lost_seconds=1.0))
    without_it = replace(a_plan("ab"), generation=5)
    membership._line.preparations.take(without_it)  # noqa: SLF001 - as the coordinator's line does
    membership.fail()
    assert membership.generation == 0
