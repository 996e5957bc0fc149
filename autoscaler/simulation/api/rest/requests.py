"""What may be asked of a simulation? The body of POST /simulations, with defaults and bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from rest_framework import serializers
from tenancy.models import Team

from autoscaler.control_loop.observe.for_planner.pool_view import pools
from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import PolicyRefused
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.engine.workload.recipes import MixName, Pattern
from autoscaler.simulation.engine.workload.recordings import RecordingFormat
from jobs.api import json_types

MOST_POLICIES: Final = 8
_NEEDED: Final = {"uploaded": "text", "history": "days"}


def _choice(words: Iterable[str], **more: Any) -> serializers.ChoiceField:
    return serializers.ChoiceField(choices=[str(word) for word in words], **more)


class TraceSourceSerializer(serializers.Serializer[Any]):
    """Where the workload comes from. Fields of other kinds are ignored."""

    kind = _choice(("generated", "uploaded", "history"))
    pattern = _choice(Pattern, default="poisson", help_text="generated: how jobs come.")
    mix = _choice(MixName, default="production", help_text="generated: which jobs.")
    jobs = serializers.IntegerField(default=160, min_value=1, max_value=20_000)
    load = serializers.FloatField(
        default=0.8, min_value=0.01, max_value=10, help_text="generated: 1.0 fills every GPU."
    )
    format = _choice(
        RecordingFormat, default="auto", help_text="uploaded: see docs/planning/traces.md."
    )
    text = serializers.CharField(required=False, help_text="uploaded: the recording.")
    days = serializers.FloatField(
        required=False, min_value=0.01, max_value=90, help_text="history: the last days."
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        needed = _NEEDED.get(attrs["kind"])
        if needed and needed not in attrs:
            raise serializers.ValidationError({needed: f"Needed for kind {attrs['kind']}."})
        return attrs


class SimulatedQuotaSerializer(serializers.Serializer[Any]):
    """A team's quota in the changed cluster."""

    team = serializers.CharField(max_length=40)
    guaranteed_gpus = serializers.IntegerField(min_value=0)
    limit_gpus = serializers.IntegerField(min_value=0, allow_null=True, default=None)
    over_quota_weight = serializers.FloatField(min_value=0, default=1.0)

    def validate_team(self, value: str) -> str:
        if not Team.objects.filter(name=value).exists():
            raise serializers.ValidationError(f"There is no team {value!r}.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        limit = attrs["limit_gpus"]
        if limit is not None and limit < attrs["guaranteed_gpus"]:
            raise serializers.ValidationError({"limit_gpus": "It is below the guarantee."})
        return attrs


class SimulationRequestSerializer(serializers.Serializer[Any]):
    """What to simulate. With `add_gpus` or `quotas`, every policy on the changed cluster too."""

    title = serializers.CharField(max_length=120, default="What if")
    trace = TraceSourceSerializer()
    policies = serializers.ListField(
        child=serializers.CharField(max_length=80),
        min_length=1,
        max_length=MOST_POLICIES,
        help_text="Like `completion_time` or `fixed_batch:batch=min`.",
    )
    pool = serializers.CharField(max_length=40, default="default")
    add_gpus = serializers.IntegerField(
        default=0, min_value=-10_000, max_value=10_000, help_text="Negative: fewer."
    )
    quotas = SimulatedQuotaSerializer(many=True, default=list)
    admission = _choice(AdmissionVariant, default="queueing")
    tick_seconds = serializers.FloatField(default=60.0, min_value=1, max_value=3600)
    stall_seconds = serializers.FloatField(default=1.0, min_value=0, max_value=3600)
    node_failure_hours = serializers.FloatField(
        allow_null=True,
        default=None,
        min_value=0.1,
        max_value=1e6,
        help_text="Hours between failures of one node, on average. Null: nodes never fail.",
    )
    horizon_hours = serializers.FloatField(
        allow_null=True, default=None, min_value=0.1, max_value=2400
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)

    def validate_pool(self, value: str) -> str:
        names = sorted(pool.name for pool in pools())
        if value not in names:
            raise serializers.ValidationError(
                f"There is no pool {value!r}. Use one of: {', '.join(names)}."
            )
        return value

    def validate_quotas(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({quota["team"] for quota in value}) < len(value):
            raise serializers.ValidationError("Name each team once.")
        return value

    def validate_policies(self, value: list[str]) -> list[str]:
        if len(set(value)) < len(value):
            raise serializers.ValidationError("Name each policy once.")
        for policy in value:
            try:
                installed_policies().policy(policy)
            except PolicyRefused as problem:
                raise serializers.ValidationError(str(problem)) from problem
        return value


def checked(data: Any) -> Mapping[str, Any]:
    """The body with all defaults.

    Raises:
        ValidationError: names the field and what would be right.
    """
    form = SimulationRequestSerializer(data=data)
    json_types.check(form)
    form.is_valid(raise_exception=True)
    body: Mapping[str, Any] = form.validated_data
    return body
