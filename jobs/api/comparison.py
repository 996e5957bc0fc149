"""The endpoint that shows a few jobs side by side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of

from jobs.api import requests
from jobs.api.collection import SharesReads
from jobs.api.representation import represented
from jobs.api.serializers.job import JobSerializer
from jobs.models import Job
from jobs.queries import visible_jobs
from jobs.queries.curves.comparison import ComparedCurve, CurveMeasure, curves_of, metrics_of
from jobs.reports.fields import LONGEST_NAME

MOST_JOBS: Final = 10
_ID: Final = re.compile(r"[0-9a-z]{1,12}")
_IDS: Final = f"^{_ID.pattern}(,{_ID.pattern}){{0,{MOST_JOBS - 1}}}$"


@extend_schema_field({"type": "string", "pattern": _IDS})
class _JobIdsField(serializers.CharField):
    """Ids with commas between them; validated, a list without those that are named again."""

    def to_internal_value(self, data: Any) -> Any:
        ids = list(dict.fromkeys(filter(None, super().to_internal_value(data).split(","))))
        if len(ids) > MOST_JOBS:
            raise serializers.ValidationError(
                f"These are {len(ids)} jobs. Name at most {MOST_JOBS}."
            )
        wrong = next((one for one in ids if not _ID.fullmatch(one)), None)
        if wrong is not None or not ids:
            raise serializers.ValidationError(
                f"{wrong or ''!r} is not the id of a job. Write ids with commas between them."
            )
        return ids


class ComparisonQuery(serializers.Serializer[Any]):
    jobs = _JobIdsField(
        max_length=200, help_text=f"Their ids, with commas between them; at most {MOST_JOBS}."
    )
    metric = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=LONGEST_NAME,
        trim_whitespace=False,
        help_text="Of which the curves are; without it, the loss, or what else they log.",
    )
    measure = serializers.ChoiceField(
        choices=[one.value for one in CurveMeasure],
        required=False,
        default=None,
        help_text="What curves are of instead: what is measured of every script.",
    )
    points = serializers.IntegerField(
        required=False,
        default=200,
        min_value=2,
        max_value=500,
        help_text="At most so many of each.",
    )


class ComparedCurveSerializer(serializers.Serializer[Any]):
    """Columns of the same length, evenly thinned, oldest first."""

    lowest = serializers.FloatField(
        allow_null=True,
        help_text="Before thinning: of a long job, of the last point of each stretch.",
    )
    highest = serializers.FloatField(allow_null=True)
    seconds = serializers.ListField(
        child=serializers.FloatField(), help_text="Since the job started."
    )
    steps = serializers.ListField(child=serializers.IntegerField())
    samples = serializers.ListField(child=serializers.IntegerField())
    gpu_hours = serializers.ListField(
        child=serializers.FloatField(allow_null=True),
        help_text="While it trained until then; null where its history is gone.",
    )
    values = serializers.ListField(child=serializers.FloatField())


class ComparedJobSerializer(JobSerializer):
    """A row of the list of jobs, its spec as it counts now, and its curve."""

    resolved_spec = serializers.SerializerMethodField(
        help_text="Without the text of what was changed beside the commit of its code."
    )
    curve = ComparedCurveSerializer()

    class Meta(JobSerializer.Meta):
        fields: ClassVar[tuple[str, ...]] = (*JobSerializer.Meta.fields, "resolved_spec", "curve")
        read_only_fields = fields

    @extend_schema_field(serializers.DictField())
    def get_resolved_spec(self, job: Job) -> dict[str, Any]:
        spec: dict[str, Any] = {**job.resolved_spec}
        code = spec.get("code")
        if isinstance(code, dict) and isinstance(code.get("git"), dict):
            origin = {name: value for name, value in code["git"].items() if name != "diff"}
            spec["code"] = {**code, "git": origin}
        return spec


class ComparisonSerializer(serializers.Serializer[Any]):
    items = ComparedJobSerializer(many=True, help_text="In the order in which they were named.")
    missing = serializers.ListField(
        child=serializers.CharField(), help_text="Ids of no job that the caller may see."
    )
    metrics = serializers.ListField(
        child=serializers.CharField(), help_text="What any of them logs, losses first."
    )
    metric = serializers.CharField(
        help_text="Of which the curves are; empty: of the measure, or none of them logs a number."
    )


class ComparisonView(SharesReads, APIView):
    """A few jobs, whatever their teams are."""

    @extend_schema(
        operation_id="compare_jobs",
        summary="Show a few jobs side by side: specs, outcomes, and a curve of each",
        description="Jobs that the caller may not see are named in `missing`, as those that do not"
        " exist.",
        parameters=[ComparisonQuery],
        responses=ComparisonSerializer,
    )
    def get(self, request: Request) -> Response:
        asked = requests.query(request, ComparisonQuery)
        question = (tuple(asked["jobs"]), asked["metric"], asked["measure"], asked["points"])
        principal = principal_of(request)
        return Response(self.share(request, question, lambda: _compared(principal, asked)))


def _compared(principal: Principal, asked: Mapping[str, Any]) -> Any:
    ids: Sequence[str] = asked["jobs"]
    seen = visible_jobs.with_numbers(visible_jobs.jobs_of(principal).filter(pk__in=ids))
    jobs = sorted(seen, key=lambda job: ids.index(job.pk))
    metrics = metrics_of(jobs)
    measure = None if asked["measure"] is None else CurveMeasure(asked["measure"])
    metric = "" if measure else asked["metric"] or next(iter(metrics), "")
    curves = curves_of(jobs, metric=metric, measure=measure, points=asked["points"])
    for job in jobs:
        told: Any = job
        told.curve = curves.get(job.pk) or ComparedCurve.empty()
    found = {job.pk for job in jobs}
    answer = {
        "items": jobs,
        "missing": [one for one in ids if one not in found],
        "metrics": metrics,
        "metric": metric,
    }
    return represented(ComparisonSerializer, answer)
