"""Has every action and every reason an explanation and a sentence, whatever happened to the job?"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from autoscaler import planning
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.decisions import explanation as values
from autoscaler.planning.decisions.explanation import Remedy, RemedyKind
from autoscaler.planning.decisions.plan import Action
from autoscaler.planning.explanations.sentences.remedy_sentences import render_remedy
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from autoscaler.planning.snapshot.cluster_state import (
    ChangeKind,
    ClusterState,
    MetricTarget,
    PoolChange,
    Straggler,
)
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from tests.planning.builders import cluster, running, waiting
from tests.planning.explanations.told import TOLD
from tests.planning.plans.test_planner import EXPECTED

if TYPE_CHECKING:
    from autoscaler.planning.decisions.explanation import Explanation

KINDS: Final = {
    Action.START: (values.Started,),
    Action.KEEP: (values.Running,),
    Action.RESCALE: (values.Rescaled,),
    Action.PAUSE: (values.Paused,),
    Action.WAIT: (values.Waiting, values.Refused),
    Action.DROP: (values.Dropped,),
}


def on_draining_node() -> ClusterState:
    state = cluster(running("a", 2, min_workers=2, max_workers=2), nodes=(2, 2))
    (pool,) = state.pools
    closed = replace(pool.nodes[0], is_schedulable=False, is_draining=True)
    return replace(state, pools=(replace(pool, nodes=(closed, pool.nodes[1])),))


def never_lent() -> ClusterState:
    state = cluster(
        running("a", 2, "speech", min_workers=2),
        waiting("b", "language"),
        quotas={"vision": (2, None)},
    )
    return replace(state, quotas=(replace(state.quotas[0], lending_limit_gpus=0),))


def dropping() -> ClusterState:
    state = cluster(running("a", 4, min_workers=4), waiting("b"), quotas={})
    pools = tuple(replace(pool, admission=AdmissionVariant.DROPPING) for pool in state.pools)
    return replace(state, pools=pools)


def beside_the_same_user() -> ClusterState:
    jobs = running("a", 2, min_workers=2, user="ann"), waiting("b", user="ann")
    state = cluster(*jobs, nodes=(4,), quotas={"vision": (2, None)})
    return replace(state, quotas=(replace(state.quotas[0], user_limit_gpus=2),))


def with_a_straggler() -> ClusterState:
    slow = Straggler(worker_id="a-1-2", node="n1", relative_speed=0.6)
    return cluster(running("a", 2, max_workers=2, straggler=slow), quotas={})


MORE: Final = (
    on_draining_node(),
    never_lent(),
    dropping(),
    cluster(
        running("a", 2, rescales=3),
        changes=(PoolChange(kind=ChangeKind.NODE_JOINED, pool="default", name="n1"),),
    ),
    cluster(
        running(
            "a",
            2,
            scale_on=MetricTarget(metric="queue", grow_above=100.0, shrink_below=10.0),
            reported=(("queue", 120.0),),
        ),
        quotas={},
    ),
    with_a_straggler(),
    beside_the_same_user(),
    cluster(
        running("a", 4, max_workers=2),
        changes=(PoolChange(kind=ChangeKind.TERMS_CHANGED, pool="default", name="a"),),
    ),
    cluster(
        running("a", 4, max_workers=1),
        changes=(PoolChange(kind=ChangeKind.IDLE, pool="default", name="a"),),
    ),
)


@cache
def decided() -> dict[JobReason, list[tuple[Action, Explanation]]]:
    """What the planner says in all these clusters, by reason."""
    found: defaultdict[JobReason, list[tuple[Action, Explanation]]] = defaultdict(list)
    told = [one.state for one in TOLD.values()]
    planned_for = [state for state, _ in EXPECTED.values()]
    for state in (*told, *planned_for, *MORE):
        planned = plan(state)
        for one in planned.decisions:
            found[one.reason].append((one.action, planned.explanations[one.job_id]))
    return dict(found)


def reasons_of_the_planner() -> list[JobReason]:
    """Those that the planner's code names."""
    modules = Path(planning.__file__).parent.rglob("*.py")
    named = set(re.findall(r"\bJobReason\.([A-Z_]+)", "".join(map(Path.read_text, modules))))
    return [reason for reason in JobReason if reason.name in named]


@pytest.mark.parametrize("reason", reasons_of_the_planner())
def test_every_reason_is_given_and_said(reason: JobReason) -> None:
    assert decided()[reason]
    for action, explanation in decided()[reason]:
        assert isinstance(explanation, KINDS[action])
        assert explanation.reason is reason
        assert_is_a_sentence(render(explanation))


@pytest.mark.parametrize("action", Action)
def test_every_action_is_explained(action: Action) -> None:
    found = {type(value) for some in decided().values() for one, value in some if one is action}
    assert found == set(KINDS[action])


@pytest.mark.parametrize("reason", reasons_of_the_planner())
def test_a_sentence_is_found_for_any_reason_of_any_kind_of_explanation(reason: JobReason) -> None:
    """Also for those pairs that no plan has today, and that lack the numbers it would have."""
    one_of_each = {type(value): value for some in decided().values() for _, value in some}
    assert len(one_of_each) == sum(map(len, KINDS.values()))
    for value in one_of_each.values():
        assert_is_a_sentence(render(replace(value, reason=reason)))


@pytest.mark.parametrize("kind", RemedyKind)
def test_every_remedy_is_said(kind: RemedyKind) -> None:
    numbers = {"gpus": 2, "workers": 3, "priority": 60, "paused_jobs": 1}
    remedy = Remedy(kind=kind, pool="spare", node="n1", **numbers)
    assert_is_a_sentence(render_remedy(remedy, team="vision"))


def assert_is_a_sentence(words: str) -> None:
    assert words.endswith(".")
    assert "None" not in words
