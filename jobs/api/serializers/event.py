"""What happened to a job, or to all of them?"""

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
        fields: tuple[str, ...] = (
            *("id", "at", "kind", "old_state", "new_state", "reason", "message", "data"),
        )
        read_only_fields = fields


class EventListSerializer(serializers.Serializer[Any]):
    items = EventSerializer(many=True)


class FeedEventSerializer(EventSerializer):
    """An event of any job, with whose it is."""

    position = serializers.IntegerField(help_text="Later ones have a higher one.")
    team = serializers.CharField(source="job.team.name")
    job_name = serializers.CharField(source="job.name")

    class Meta(EventSerializer.Meta):
        fields = ("position", "team", "job_id", "job_name", *EventSerializer.Meta.fields)
        read_only_fields = fields


class FeedPageSerializer(serializers.Serializer[Any]):
    items = FeedEventSerializer(many=True, source="events")
    next = serializers.CharField(source="reached", help_text="Go on with `after` this.")
    has_more = serializers.BooleanField(
        help_text="True: ask for the next page at once, even if this one is empty."
    )
