"""Which numbers does each kind of explanation have? A union: `kind` tells which of seven it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema_field
from rest_framework import serializers

from autoscaler.planning.decisions.explanation import ExplanationKind, Hindrance
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
    UserShareSerializer,
    choice_field,
    pool_offers,
)


def _kind(kind: ExplanationKind) -> serializers.CharField:
    """Make the field that says which member of the union this is; it has one value."""

    @extend_schema_field({"type": "string", "const": kind.value})
    class KindField(serializers.CharField):
        pass

    return KindField()


class RunningDetailsSerializer(serializers.Serializer[Any]):
    """A job that stays as it is."""

    kind = _kind(ExplanationKind.RUNNING)
    hindrance = choice_field(Hindrance, help_text="Why it has not more.")
    next_step = NextStepSerializer(allow_null=True)
    rival = RivalSerializer(allow_null=True)
    team = TeamShareSerializer()
    user = UserShareSerializer(allow_null=True)


class StartedDetailsSerializer(serializers.Serializer[Any]):
    """A waiting job that starts."""

    kind = _kind(ExplanationKind.STARTED)
    team = TeamShareSerializer()
    pools = pool_offers()


class RescaledDetailsSerializer(serializers.Serializer[Any]):
    """A job that gets other workers or another batch."""

    kind = _kind(ExplanationKind.RESCALED)
    before = ChoiceSerializer()
    after = ChoiceSerializer()
    gain = serializers.FloatField(allow_null=True, help_text="Predicted; null: not known.")
    stall_seconds = serializers.FloatField(allow_null=True, help_text="Its expected cost.")
    team = TeamShareSerializer()
    user = UserShareSerializer(allow_null=True)
    pool_gpus = serializers.IntegerField()


class PausedDetailsSerializer(serializers.Serializer[Any]):
    """A running job that gives everything back."""

    kind = _kind(ExplanationKind.PAUSED)
    needed_gpus = serializers.IntegerField()
    reserved = ReservedSerializer(allow_null=True, help_text="It was a guest on these.")


class WaitingDetailsSerializer(serializers.Serializer[Any]):
    """A job that waits, and time may help."""

    kind = _kind(ExplanationKind.WAITING)
    needed_gpus = serializers.IntegerField(help_text="For its smallest size.")
    free_gpus = serializers.IntegerField()
    available_gpus = serializers.IntegerField(
        help_text="Free, or can be freed by shrinking others."
    )
    pool_gpus = serializers.IntegerField()
    team = TeamShareSerializer()
    user = UserShareSerializer(allow_null=True)
    blocker = JobRefSerializer(allow_null=True, help_text="Whom it stands behind.")
    reserved = ReservedSerializer(
        allow_null=True, help_text="For itself, or for the job it stands behind."
    )
    holders = HolderSerializer(many=True)
    pools = pool_offers()
    closed_nodes = ClosedNodeSerializer(
        many=True, help_text="That take no new work: those with most GPUs."
    )


class RefusedDetailsSerializer(serializers.Serializer[Any]):
    """A job that can never start as it is."""

    kind = _kind(ExplanationKind.REFUSED)
    needed_gpus = serializers.IntegerField()
    pool_gpus = serializers.IntegerField()
    team = TeamShareSerializer()
    user = UserShareSerializer(allow_null=True)
    remedy = RemedySerializer(allow_null=True, help_text="What would make it possible.")


class DroppedDetailsSerializer(serializers.Serializer[Any]):
    """A new job that is refused for good, in a pool that keeps no queue."""

    kind = _kind(ExplanationKind.DROPPED)
    needed_gpus = serializers.IntegerField()
    available_gpus = serializers.IntegerField(
        help_text="Left when every admitted job takes its smallest size."
    )
    team = TeamShareSerializer()


KINDS: Final[Mapping[str, type[serializers.Serializer[Any]]]] = {
    ExplanationKind.RUNNING: RunningDetailsSerializer,
    ExplanationKind.STARTED: StartedDetailsSerializer,
    ExplanationKind.RESCALED: RescaledDetailsSerializer,
    ExplanationKind.PAUSED: PausedDetailsSerializer,
    ExplanationKind.WAITING: WaitingDetailsSerializer,
    ExplanationKind.REFUSED: RefusedDetailsSerializer,
    ExplanationKind.DROPPED: DroppedDetailsSerializer,
}


@extend_schema_field(
    PolymorphicProxySerializer(
        component_name="Details",
        serializers={str(kind): one for kind, one in KINDS.items()},
        resource_type_field_name="kind",
    )
)
class DetailsField(serializers.DictField):
    """All numbers that a sentence is made of."""


def details_of(explanation: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the documented numbers of the planner's value; None if there is no decision.

    A value that another release wrote may lack some, or be of a kind that this one does not know.
    """
    kind = KINDS.get(explanation.get("kind", ""))
    return None if kind is None else {name: explanation.get(name) for name in kind().get_fields()}
