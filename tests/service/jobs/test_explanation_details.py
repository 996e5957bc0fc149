"""Does the API describe each kind of explanation by what the planner's value holds?"""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_args

import pytest

from autoscaler.planning.decisions import explanation as values
from jobs.api.serializers.explanation.details import KINDS, details_of
from jobs.api.serializers.explanation.parts import (
    ChoiceSerializer,
    ClosedNodeSerializer,
    HolderSerializer,
    JobRefSerializer,
    NextStepSerializer,
    RemedySerializer,
    ReservedSerializer,
    RivalSerializer,
    TeamShareSerializer,
)

VALUES = {value.__name__.lower(): value for value in get_args(values.Explanation)}
PARTS = {
    ChoiceSerializer: values.SizeOption,
    ClosedNodeSerializer: values.ClosedNode,
    HolderSerializer: values.Holder,
    JobRefSerializer: values.JobRef,
    NextStepSerializer: values.NextStep,
    RemedySerializer: values.Remedy,
    ReservedSerializer: values.Reserved,
    RivalSerializer: values.Rival,
    TeamShareSerializer: values.TeamShare,
}


def names_of(value: type) -> set[str]:
    return {field.name for field in fields(value)}


def test_each_kind_is_described() -> None:
    assert KINDS.keys() == VALUES.keys()


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_only_numbers_that_its_value_has(kind: str) -> None:
    described = set(KINDS[kind]().get_fields())
    assert described - {"kind"} <= names_of(VALUES[kind])


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_described_whole(part: Any) -> None:
    assert set(part().get_fields()) == names_of(PARTS[part])


def test_what_another_release_wrote_is_answered_as_far_as_it_goes() -> None:
    assert details_of({}) is None
    assert details_of({"kind": "dreaming", "needed_gpus": 2}) is None
    started = details_of({"kind": "started", "colour": "blue"})
    assert started == {"kind": "started", "team": None, "pools": None}
