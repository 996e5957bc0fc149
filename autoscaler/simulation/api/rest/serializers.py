"""What does an answer about simulations look like?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.rest.requests import SimulationRequestSerializer


class SimulationSerializer(serializers.ModelSerializer[Simulation]):
    class Meta:
        model = Simulation
        fields = (
            "id", "title", "state", "progress", "requested_by", "requested_at", "started_at",
            "finished_at", "error",
        )  # fmt: skip
        read_only_fields = fields


class RunSerializer(serializers.Serializer[Any]):
    """Figures of one run; times in seconds, of finished jobs. null: no job gives the figure."""

    label = serializers.CharField(help_text="Policy, and the cluster where there are two.")  # type: ignore[assignment]  # DRF has an attribute of that name
    jobs = serializers.IntegerField()
    done = serializers.IntegerField()
    dropped = serializers.IntegerField()
    backlog = serializers.IntegerField(help_text="Neither finished nor dropped at the end.")
    mean_completion_seconds = serializers.FloatField(allow_null=True)
    p50_completion_seconds = serializers.FloatField(allow_null=True)
    p99_completion_seconds = serializers.FloatField(allow_null=True)
    mean_wait_seconds = serializers.FloatField(allow_null=True)
    makespan_seconds = serializers.FloatField(allow_null=True)
    gpu_hours = serializers.FloatField()
    utilisation = serializers.FloatField(help_text="Share of all GPU time that jobs held.")
    scaling_efficiency = serializers.FloatField(allow_null=True)
    rescales_per_job = serializers.FloatField()
    pauses_per_job = serializers.FloatField()
    worst_fairness = serializers.FloatField(allow_null=True)
    deadlines_met = serializers.FloatField(allow_null=True)
    mean_decision_seconds = serializers.FloatField(allow_null=True)
    max_decision_seconds = serializers.FloatField(allow_null=True)


class ResultSerializer(serializers.Serializer[Any]):
    trace = serializers.CharField()
    gpus = serializers.IntegerField()
    verdict = serializers.CharField()
    runs = RunSerializer(many=True)


class SimulationDetailSerializer(serializers.ModelSerializer[Simulation]):
    request = SimulationRequestSerializer(read_only=True)
    result = ResultSerializer(allow_null=True, read_only=True)

    class Meta:
        model = Simulation
        fields = (*SimulationSerializer.Meta.fields, "request", "result")
        read_only_fields = fields


class SimulationListSerializer(serializers.Serializer[Any]):
    items = SimulationSerializer(many=True)
