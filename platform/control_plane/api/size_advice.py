"""The endpoint of advice: how many workers would have been right for a job?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of

from autoscaler.size_advice.arithmetic import (
    JudgedSize,
    SizeAdvice,
    SizeVerdict,
    wasted_share,
    workers_in_words,
)
from autoscaler.size_advice.spec_range import range_in_spec
from jobs.queries import visible_jobs
from jobs.spec import stored_spec

_UNITS: Final = ((3600, "h"), (60, "min"))


class TriedSizeSerializer(serializers.Serializer[Any]):
    """A number of workers that the job had, or that lies between two that were measured."""

    workers = serializers.IntegerField()
    gpus = serializers.IntegerField()
    seconds = serializers.FloatField(help_text="For which it trained so, without standing still.")
    gpu_seconds = serializers.FloatField()
    samples_per_second = serializers.FloatField(allow_null=True, help_text="As measured.")
    predicted_samples_per_second = serializers.FloatField(
        allow_null=True, help_text="As the model says that was fitted to all measurements."
    )
    relative_error = serializers.FloatField(
        allow_null=True, help_text="One standard deviation of the prediction."
    )
    efficiency = serializers.FloatField(
        allow_null=True, help_text="Samples per second and GPU, beside those of the smallest size."
    )
    gain_of_last_gpu = serializers.FloatField(
        allow_null=True,
        help_text="What a GPU more than at the next smaller size brought, beside one of the first.",
    )


class SuggestedRangeSerializer(serializers.Serializer[Any]):
    min_workers = serializers.IntegerField()
    max_workers = serializers.IntegerField()
    allowed_workers = serializers.ListField(
        child=serializers.IntegerField(),
        allow_null=True,
        help_text="Those of the job's spec that lie in the range; null: it does not list them.",
    )
    requested_workers = serializers.IntegerField(
        allow_null=True, help_text="That of the job's spec, kept in the range; null: it has none."
    )
    lost_seconds = serializers.FloatField(help_text="It would have trained longer by so much.")
    lost_share = serializers.FloatField(help_text="Of the time that it trained.")
    saved_gpu_seconds = serializers.FloatField()
    saved_share = serializers.FloatField(help_text="Of the GPU time that it trained.")


class SizeAdviceSerializer(serializers.Serializer[Any]):
    """What each GPU brought, and the range of workers with which less would be wasted."""

    job_id = serializers.CharField()
    verdict = serializers.ChoiceField(
        choices=[one.value for one in SizeVerdict],
        help_text="`unknown`: too little was measured; `keep`: all sizes were worth their GPUs;"
        " `fewer`: with fewer workers at most much is saved, and little lost.",
    )
    message = serializers.CharField()
    gpu_seconds = serializers.FloatField(help_text="In which it trained.")
    gpu_seconds_below_half = serializers.FloatField(
        help_text="Of these, at sizes with an efficiency below 50 %."
    )
    knee = serializers.IntegerField(
        allow_null=True,
        help_text="The size up to which each GPU more brought at least half as much as one of the"
        " first. null: not known.",
    )
    wasted_share = serializers.FloatField(
        help_text="Of the GPU time of workers beyond the knee, the share that brought nothing."
    )
    suggested = SuggestedRangeSerializer(allow_null=True)
    sizes = TriedSizeSerializer(many=True, help_text="By their number of workers.")


class SizeAdviceView(APIView):
    @extend_schema(
        operation_id="get_job_advice",
        summary="How many workers would have been right for a job",
        description="From what was measured while it ran, also while it still runs. Nothing is"
        " advised about sizes beyond those that were measured, and nothing where only one was.",
        responses=SizeAdviceSerializer,
    )
    def get(self, request: Request, job_id: str) -> Response:
        from autoscaler.size_advice.reading import advice_for  # noqa: PLC0415 - it loads scipy

        job = visible_jobs.find_job(principal_of(request), job_id)
        spec = stored_spec.read(job.resolved_spec).spec
        gpus = max(spec.resources.gpus_per_worker, 1)
        found = advice_for(job, timezone.now())
        suggested = found.suggested
        answer = {
            "job_id": job.id,
            "verdict": found.verdict,
            "message": message_of(found),
            "gpu_seconds": found.gpu_seconds,
            "gpu_seconds_below_half": found.gpu_seconds_below_half,
            "knee": found.knee,
            "wasted_share": wasted_share(found),
            "suggested": suggested
            and {**asdict(suggested), **asdict(range_in_spec(spec.elastic, suggested))},
            "sizes": [_size(one, gpus) for one in found.sizes],
        }
        return Response(SizeAdviceSerializer(answer).data)


def message_of(advice: SizeAdvice) -> str:
    """Say what is advised, or why nothing is."""
    suggested = advice.suggested
    if advice.knee is None:
        return advice.why
    if suggested is None:
        return (
            "Every size at which it trained for long was worth its GPUs: fewer workers would have"
            " saved next to nothing."
        )
    to = workers_in_words(suggested.max_workers)
    most = (
        f"{suggested.min_workers} to {to}" if suggested.min_workers != suggested.max_workers else to
    )
    return (
        f"Beyond {to} it wastes {wasted_share(advice):.0%} of what it holds. With {most} it would"
        f" have trained {_duration(suggested.lost_seconds)} longer ({suggested.lost_share:.0%})"
        f" and saved {_duration(suggested.saved_gpu_seconds, 'GPU-')}"
        f" ({suggested.saved_share:.0%})."
    )


def _size(one: JudgedSize, gpus_per_worker: int) -> dict[str, Any]:
    tried = one.tried
    gpus = tried.workers * gpus_per_worker
    return {
        "workers": tried.workers,
        "gpus": gpus,
        "seconds": tried.seconds,
        "gpu_seconds": tried.seconds * gpus,
        "samples_per_second": tried.measured,
        "predicted_samples_per_second": tried.predicted,
        "relative_error": tried.relative_error,
        "efficiency": one.efficiency,
        "gain_of_last_gpu": one.gain_of_last,
    }


def _duration(seconds: float, of: str = "") -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{seconds / size:.1f} {of}{unit}"
    return f"{seconds:.0f} {of}s"
