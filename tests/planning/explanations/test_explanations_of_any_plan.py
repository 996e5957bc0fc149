"""What holds for the explanations of any plan whatever."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from autoscaler.planning.explanations.audience import seen_by
from autoscaler.planning.explanations.sentences.rendering import render
from autoscaler.planning.planner import plan
from tests.campaigns import examples
from tests.planning.builders import (
    cluster,
    waiting,
)
from tests.planning.random_states import states

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState


@examples(60)
@given(states())
def test_every_job_is_explained_in_full_sentences_and_as_json(state: ClusterState) -> None:
    result = plan(state)
    assert list(result.explanations) == [job.job_id for job in state.jobs]
    for job_id, explanation in result.explanations.items():
        words = render(explanation)
        assert words.endswith(".")
        assert "None" not in words
        assert explanation.reason == next(d.reason for d in result.decisions if d.job_id == job_id)
        assert json.loads(json.dumps(asdict(explanation)))


@examples(60)
@given(states())
def test_what_a_team_reads_holds_no_name_of_another_team(state: ClusterState) -> None:
    """Names no word contains, so that finding one means that it was told."""
    secret = replace(
        state,
        jobs=tuple(replace(job, name=f"<{job.team}-{job.job_id}>") for job in state.jobs),
    )
    foreign = {job.job_id: job for job in secret.jobs if job.team != "vision"}
    for explanation in plan(secret).explanations.values():
        seen = seen_by(explanation, team="vision")
        told = json.dumps(asdict(seen)) + render(seen)
        assert not [job.name for job in foreign.values() if job.name in told]
        assert not [job_id for job_id in foreign if f'"{job_id}"' in told]


@examples(60)
@given(states())
def test_where_teams_see_nothing_of_each_other_no_other_is_named(state: ClusterState) -> None:
    others = {f'"{quota.team}"' for quota in state.quotas} | {f'"{job.team}"' for job in state.jobs}
    teams = {name.strip('"') for name in others} - {"vision"}
    for job in state.jobs:
        if job.team != "vision":
            continue
        whole = plan(state).explanations[job.job_id]
        seen = seen_by(whole, team="vision", shows_others=False)
        told = json.dumps(asdict(seen))
        assert not [team for team in teams if f'"{team}"' in told]
        assert not [team for team in teams if f"team {team}" in render(seen)]
        assert render(seen).endswith(".")
        assert seen.reason == whole.reason


def test_nobody_is_explained_who_is_not_in_the_plan() -> None:
    explanations = plan(cluster(waiting("a", pool="elsewhere"))).explanations
    assert len(explanations) == 0
    with pytest.raises(KeyError):
        explanations["a"]
