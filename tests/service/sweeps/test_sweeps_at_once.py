"""What happens to a sweep when two steer it at the same moment? Each in a connection of its own."""

from __future__ import annotations

import pytest
from cluster.models import Node, Pool
from rest_framework.test import APIClient
from sweeps.models import Sweep, SweepMark

from jobs.models import Event, Job, JobArray
from tests.service.at_once import ask_at_once
from tests.service.conftest import client_of, make_team
from tests.service.sweeps.conftest import PATH, add_by, go, settle, states, tells, trials

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def client() -> APIClient:
    pool = Pool.objects.create(name="default")
    Node.objects.create(pool=pool, name="node-1", gpus=4)
    return client_of(make_team("vision", pool, guaranteed=2, limit=None))


@pytest.fixture
def sweep(client: APIClient) -> Sweep:
    """One of which the first trial goes on in the next round, and the second is told to wait."""
    sweep = add_by(client)
    tells(trials(sweep)[1], 1.0, loss=0.1)
    go()
    settle(*trials(sweep).values())
    for number in (2, 3):
        tells(trials(sweep)[number], 1.0, loss=number / 10)
    return sweep


def cancelled(client: APIClient, sweep: Sweep) -> int:
    return client.post(f"{PATH}/{sweep.pk}/cancel", {}, format="json").status_code


@pytest.mark.parametrize("who_is_first", ["round", "person"])
def test_who_is_let_go_on_while_the_sweep_is_cancelled_is_cancelled(
    client: APIClient, sweep: Sweep, who_is_first: str
) -> None:
    both = [go, lambda: cancelled(client, sweep)]
    first, second = both if who_is_first == "round" else reversed(both)
    assert 202 in ask_at_once(first, second)
    settle(*trials(sweep).values())
    assert set(states(sweep).values()) == {"cancelled"}
    assert not JobArray.objects.get(pk=sweep.pk).is_open
    count = Job.objects.count()
    go()
    assert Job.objects.count() == count
    assert Sweep.objects.get(pk=sweep.pk).ended_at is not None


def test_two_rounds_at_once_do_what_one_does(sweep: Sweep) -> None:
    made = Job.objects.count()
    ask_at_once(go, go)
    assert SweepMark.objects.filter(promoted_at__isnull=False).count() == 1
    assert sorted(trials(sweep)) == list(range(1, Job.objects.count() + 1))
    assert Job.objects.count() == made + 1
    resumed = Event.objects.filter(job=trials(sweep)[1], message__startswith="Resumed by")
    assert resumed.count() == 1
