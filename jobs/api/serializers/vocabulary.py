"""How are the codes of the vocabulary answered? They are choices in the API's description.

A row may hold a code of an earlier or a later release: it is answered unchanged.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.job_vocabulary import EventKind, JobReason
from jobs.lifecycle import JobState

REASONS = [(reason.value, reason.sentence) for reason in JobReason]
EVENT_KINDS = [(kind.value, kind.sentence) for kind in EventKind]
STATES = [state.value for state in JobState]


def reason_field(*, may_be_empty: bool = False) -> serializers.ChoiceField:
    """A job's or an event's reason."""
    return serializers.ChoiceField(REASONS, read_only=True, allow_blank=may_be_empty)


def event_kind_field() -> serializers.ChoiceField:
    return serializers.ChoiceField(EVENT_KINDS, read_only=True)


def state_field(**options: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(STATES, read_only=True, **options)
