"""What is said about webhooks, in both directions?"""

from __future__ import annotations

from typing import Any, Final

from rest_framework import serializers
from webhooks.hooks import LONGEST_URL
from webhooks.models import DeliveryState, Webhook, WebhookDelivery, WebhookShape
from webhooks.shapes import MONTH_KIND, SCHEDULE_PAUSED, SCHEDULE_REFUSED

from autoscaler.job_vocabulary import EventKind
from jobs.lifecycle import JobState

_OF_NO_JOB: Final = (
    (MONTH_KIND, "A month of the team is over: its report"),
    (SCHEDULE_REFUSED, "A schedule of the team was due, and nothing was submitted"),
    (SCHEDULE_PAUSED, "A schedule of the team has paused itself"),
)
KINDS: Final = (*EventKind.choices(), *_OF_NO_JOB)
_NAME: Final = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"


class WebhookQuery(serializers.Serializer[Any]):
    team = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=200,
        help_text="Only this team's. Without it, all that the caller may change.",
    )


class WebhookChangeBody(serializers.Serializer[Any]):
    kinds = serializers.ListField(
        child=serializers.ChoiceField(choices=KINDS),
        max_length=len(KINDS),
        required=False,
        help_text="Of events. None: all, also what is of no job: months, schedules.",
    )
    states = serializers.ListField(
        child=serializers.ChoiceField(choices=[state.value for state in JobState]),
        max_length=len(JobState),
        required=False,
        help_text="Of changes of state only those to one of these. None: all.",
    )
    is_on_request = serializers.BooleanField(
        required=False,
        help_text="true: it is told only of jobs that name it in their `notify`.",
    )
    is_enabled = serializers.BooleanField(
        required=False, help_text="false: nothing is sent, nor kept to be sent later."
    )


class WebhookBody(WebhookChangeBody):
    team = serializers.CharField(
        allow_null=True,
        max_length=40,
        help_text="Told are its jobs, and those of teams below. null: all, for admins.",
    )
    name = serializers.RegexField(
        _NAME,
        error_messages={
            "invalid": "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a"
            " letter."
        },
    )
    url = serializers.CharField(
        max_length=LONGEST_URL,
        help_text="Where to send to. Only its host is shown later, for the rest may be a secret; a"
        " mail address, as `mailto:team@example.com`, is shown whole.",
    )
    shape = serializers.ChoiceField(choices=WebhookShape.choices, default=WebhookShape.JSON)


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """A webhook, without what may be secret of it."""

    team = serializers.CharField(source="team.name", allow_null=True, default=None)
    url = serializers.CharField(
        source="shown_url", help_text="Without its path; a mail address whole."
    )
    shape = serializers.ChoiceField(choices=WebhookShape.choices)
    kinds = serializers.ListField(child=serializers.CharField())  # of other releases, too
    states = serializers.ListField(child=serializers.CharField())
    failures = serializers.IntegerField(help_text="Of the last calls, in a row.")
    rests_until = serializers.DateTimeField(
        allow_null=True, help_text="Until then nothing is sent there, because it failed."
    )

    class Meta:
        model = Webhook
        fields: tuple[str, ...] = (
            *("id", "team", "name", "url", "shape", "kinds", "states"),
            *("is_on_request", "is_enabled"),
            *("failures", "rests_until", "created_at", "created_by"),
        )
        read_only_fields = fields


class MadeWebhookSerializer(WebhookSerializer):
    key = serializers.CharField(
        help_text="With which messages are signed, but mails are not. Shown this once: nobody can"
        " read it again."
    )

    class Meta(WebhookSerializer.Meta):
        fields = (*WebhookSerializer.Meta.fields, "key")


class WebhookListSerializer(serializers.Serializer[Any]):
    items = WebhookSerializer(many=True)


class DeliveryQuery(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=DeliveryState.choices, required=False, help_text="Only those of this state."
    )
    before = serializers.UUIDField(
        required=False, help_text="Only those before this one: the last of the page before."
    )
    limit = serializers.IntegerField(required=False, default=50, min_value=1, max_value=200)


class DeliveryTrySerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    seconds = serializers.FloatField()
    status = serializers.IntegerField(allow_null=True, help_text="null: there was no answer.")
    problem = serializers.CharField(help_text="Empty: it was delivered.")


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """One message, and how it went."""

    id = serializers.UUIDField(help_text="Sent along as `webhook-id`, however often it is sent.")
    kind = serializers.CharField(help_text="Of the event; `test` if somebody tried the webhook.")
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    due_at = serializers.DateTimeField(
        source="shown_due_at", help_text="If it waits: when it is sent."
    )
    attempts = serializers.IntegerField()
    tries = DeliveryTrySerializer(many=True, help_text="The last ones, the newest last.")

    class Meta:
        model = WebhookDelivery
        fields = (
            *("id", "kind", "event_id", "job_id", "state", "created_at", "expires_at", "due_at"),
            *("attempts", "delivered_at", "tries"),
        )
        read_only_fields = fields


class DeliveryListSerializer(serializers.Serializer[Any]):
    items = DeliverySerializer(many=True)
    has_more = serializers.BooleanField(help_text="Ask again with `before` the last of these.")
