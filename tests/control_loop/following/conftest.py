"""A pool that follows a cluster."""

from __future__ import annotations

import pytest
from cluster.models import Pool

from tests.control_loop.following.keeper import LABELS, Keeper
from tests.control_loop.world import World


@pytest.fixture
def keeper(world: World) -> Keeper:
    made = Keeper()
    made.has("n1")
    world.host.roster_keeper = made
    Pool.objects.update(ray_selector=LABELS)
    return made
