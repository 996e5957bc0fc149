from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from autoscaler.planning.policies import BUILT_IN, Policy, PolicyRefused
from autoscaler.planning.policies.baselines.fixed_batch import FixedAt, FixedBatch
from autoscaler.planning.policies.catalogue import text_of
from autoscaler.planning.policies.completion_time import CompletionTime
from autoscaler.planning.policies.scaling_efficiency import ScalingEfficiency


@pytest.mark.parametrize("name", BUILT_IN.names)
def test_every_policy_can_be_named_without_options(name: str) -> None:
    assert BUILT_IN.policy(name).name == name
    assert BUILT_IN.policies[name].summary
    assert all(option.explanation for option in BUILT_IN.options(name))


@pytest.mark.parametrize(
    ("text", "policy"),
    [
        ("fixed_batch:batch=min", FixedBatch(batch=FixedAt.MIN)),
        ("fixed_batch: batch = random", FixedBatch(batch=FixedAt.RANDOM)),
        ("scaling_efficiency:threshold=0.25", ScalingEfficiency(threshold=0.25)),
        ("completion_time:", CompletionTime()),
    ],
)
def test_a_text_says_name_and_options(text: str, policy: Policy) -> None:
    assert BUILT_IN.policy(text) == policy


def test_a_written_text_is_read_back() -> None:
    text = text_of("scaling_efficiency", {"threshold": 0.3})
    assert text == "scaling_efficiency:threshold=0.3"
    assert BUILT_IN.policy(text) == ScalingEfficiency(threshold=0.3)
    assert text_of("throughput", {}) == "throughput"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fastest", "There is no policy 'fastest': use one of completion_time, throughput"),
        ("throughput:speed=1", "Policy throughput has no option 'speed': it has no options."),
        ("fixed_batch:size=3", "no option 'size': its options are batch."),
        ("fixed_batch:batch=huge", "option batch: 'huge' is none of min, max, random."),
        ("scaling_efficiency:threshold=some", "option threshold: 'some' is not a number."),
        ("scaling_efficiency:threshold=nan", "'nan' is not a number."),
        ("scaling_efficiency:threshold=-1", "'-1' is too small: use 0 or more."),
    ],
)
def test_a_wrong_text_names_what_is_wrong_and_what_would_be_right(text: str, says: str) -> None:
    with pytest.raises(PolicyRefused) as refusal:
        BUILT_IN.policy(text)
    assert says in str(refusal.value)


def test_true_is_no_number_of_an_option() -> None:
    with pytest.raises(PolicyRefused, match="True is not a number"):
        BUILT_IN.made("scaling_efficiency", {"threshold": True})


def test_a_policy_from_elsewhere_joins_but_replaces_nothing() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Mine(CompletionTime):
        name: ClassVar = "mine"

    assert BUILT_IN.joined([Mine]).policy("mine") == Mine()
    assert "mine" not in BUILT_IN.names
    with pytest.raises(PolicyRefused, match="There is a policy completion_time already"):
        BUILT_IN.joined([CompletionTime])


def test_a_policy_that_narrows_jobs_by_the_former_name_does_not_join() -> None:
    @dataclass(frozen=True, slots=True, kw_only=True)
    class Former(CompletionTime):
        name: ClassVar = "former"

        def seen(self, job: object) -> object:
            return job

    with pytest.raises(PolicyRefused, match="`seen`: it is called `restrict` now"):
        BUILT_IN.joined([Former])


def test_what_is_no_policy_does_not_join() -> None:
    class Bare(CompletionTime):
        name: ClassVar = 3

    for wrong in (dict, Bare):
        with pytest.raises(PolicyRefused):
            BUILT_IN.joined([wrong])  # type: ignore[list-item]
