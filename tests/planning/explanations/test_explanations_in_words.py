"""What is said of each job, and to whom."""

from __future__ import annotations

import pytest

from autoscaler.planning.snapshot.cluster_state import Allocation
from tests.planning.builders import (
    NOW,
    cluster,
    running,
    said,
    waiting,
)
from tests.planning.explanations.told import TOLD


@pytest.mark.parametrize("sentence", TOLD)
def test_admins_read_every_name(sentence: str) -> None:
    told = TOLD[sentence]
    words = said(told.state)
    assert {job: words[job] for job in told.to_admins} == told.to_admins


@pytest.mark.parametrize("sentence", TOLD)
def test_members_read_the_names_of_their_own_team_only(sentence: str) -> None:
    told = TOLD[sentence]
    words = said(told.state, to="vision")
    own = {job.job_id for job in told.state.jobs if job.team == "vision"}
    expected = {job: text for job, text in told.to_admins.items() if job in own} | told.to_vision
    assert {job: words[job] for job in expected} == expected


def test_a_long_list_of_jobs_is_cut_and_counted() -> None:
    starts = [waiting(f"w{i}", submitted_at=NOW - 50 + i) for i in range(5)]
    state = cluster(running("a", 8, max_workers=8), *starts, nodes=(8,), quotas={})
    assert said(state)["a"] == (
        "Shrunk from 8 to 3 workers: room for w0, w1, w2 and 2 more, which start now."
    )


def test_a_target_under_way_is_waited_for() -> None:
    target = Allocation(workers_by_node=(("n1", 1),), global_batch_size=64)
    state = cluster(running("a", 2, can_rescale=False, target=target))
    assert said(state) == {"a": "Keeps 1 worker until the change under way is over."}
