"""What happened to a job?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from jobs.api.serializers.vocabulary import event_kind_field, reason_field, state_field
from jobs.models import Event


class EventSerializer(serializers.ModelSerializer[Event]):
    kind = event_kind_field()
    old_state = state_field(allow_blank=True)
    new_state = state_field(allow_blank=True)
    reason = reason_field(may_be_empty=True)
    data = serializers.DictField()  # type: ignore[assignment]  # DRF takes it off the class

    class Meta:
        model = Event
        fields = ("id", "at", "kind", "old_state", "new_state", "reason", "message", "data")
        read_only_fields = fields


class EventListSerializer(serializers.Serializer[Any]):
    items = EventSerializer(many=True)
