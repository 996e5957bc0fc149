"""What would other quotas have meant for the recent past? Whoever may change them may ask."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy import quota_rules
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records

from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.simulation.api import limits, queries, tasks
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import answers, asking
from autoscaler.simulation.api.previews.clusters import PreviewedClusters, clusters_for
from control_plane.api.replays.documents import ReplaySerializer, TeamOutcomeSerializer
from control_plane.api.teams.quotas import check_may_change
from control_plane.queries.visibility import sees_numbers_of
from jobs.api import json_types
from jobs.api.requests import KnownFieldsMixin

_KIND: Final = Simulation.Kind.QUOTA_PREVIEW
MOST_CHANGES: Final = 100
_MOST_GPUS: Final = 10_000


class PreviewedQuotaSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """A quota as it would be. Fields that are not named stay as they are."""

    team = serializers.CharField(max_length=40)
    pool = serializers.CharField(max_length=40, default="default")
    guaranteed_gpus = serializers.IntegerField(required=False, min_value=0, max_value=_MOST_GPUS)
    limit_gpus = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=_MOST_GPUS
    )
    lending_limit_gpus = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=_MOST_GPUS
    )
    over_quota_weight = serializers.FloatField(required=False, min_value=0, max_value=1e6)

    def to_representation(self, instance: Any) -> dict[str, Any]:
        """Fields that were not named are not shown as null, which would mean: no limit."""
        shown = super().to_representation(instance)
        return {field: value for field, value in shown.items() if field in instance}


class PreviewedPoolSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """A pool with more GPUs, or fewer."""

    pool = serializers.CharField(max_length=40)
    add_gpus = serializers.IntegerField(
        min_value=-_MOST_GPUS, max_value=_MOST_GPUS, help_text="Negative: fewer."
    )


class QuotaPreviewRequestSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """What is changed, and how many days of the past are replayed with it."""

    quotas = serializers.ListField(
        child=PreviewedQuotaSerializer(), default=list, max_length=MOST_CHANGES
    )
    pools = serializers.ListField(
        child=PreviewedPoolSerializer(), default=list, max_length=MOST_CHANGES
    )
    days = serializers.FloatField(
        default=7.0, min_value=0.01, max_value=limits.MOST_DAYS_OF_PAST, help_text="The last days."
    )

    def validate_days(self, value: float) -> float:
        """Those who ask from a moment on ask alike for some minutes, and share what is kept."""
        return round(value, 2)

    def validate_quotas(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({(one["team"], one["pool"]) for one in value}) < len(value):
            raise serializers.ValidationError("Name each team once in each pool.")
        return value

    def validate_pools(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({one["pool"] for one in value}) < len(value):
            raise serializers.ValidationError("Name each pool once.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["quotas"] and not attrs["pools"]:
            raise serializers.ValidationError({"quotas": "Say what to change: quotas or pools."})
        return attrs


class BeforeAfterSerializer(serializers.Serializer[Any]):
    """A team in a pool, as things are and as they would be."""

    team = serializers.CharField()
    pool = serializers.CharField()
    before = TeamOutcomeSerializer(allow_null=True)
    after = TeamOutcomeSerializer(allow_null=True)


class NewlyPausedSerializer(serializers.Serializer[Any]):
    """A job that would have been paused, and is not with the quotas that there are."""

    team = serializers.CharField()
    name = serializers.CharField()


class PreviewResultSerializer(serializers.Serializer[Any]):
    """What came out, for teams whose numbers the reader sees."""

    until = serializers.DateTimeField(help_text="The past goes up to then.")
    jobs = serializers.IntegerField(help_text="That were replayed, of all teams.")
    teams = BeforeAfterSerializer(many=True)
    paused = NewlyPausedSerializer(many=True, help_text="Of the reader's teams; at most 1,000.")


class QuotaPreviewSerializer(ReplaySerializer):
    request = QuotaPreviewRequestSerializer(read_only=True)
    result = PreviewResultSerializer(allow_null=True, read_only=True)


class QuotaPreviewsView(APIView):
    @extend_schema(
        operation_id="request_quota_preview",
        summary="Replay the recent past with other quotas, in the background",
        description="For admins, and for leads what they may change. Poll the preview's address"
        " until its state is final. Whoever asks alike within an hour is given what there is, with"
        " 200.",
        request=QuotaPreviewRequestSerializer,
        responses={200: QuotaPreviewSerializer, 202: QuotaPreviewSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        form = QuotaPreviewRequestSerializer(data=request.data)
        json_types.check(form)
        form.is_valid(raise_exception=True)
        body: Mapping[str, Any] = form.validated_data
        _check_may_ask(principal, body)
        clusters = clusters_for(body)
        _check_places(body, clusters)
        _check_rules(body, clusters)
        question = asking.ReplayQuestion(
            kind=_KIND,
            title="Quota preview",
            body=body,
            now=clusters.now,
            digest=clusters.digest,
            runs=2,
        )
        found, is_new = asking.answered(principal, question, wake_worker=tasks.ask)
        records.note_target(target=f"quota-previews/{found.pk}")
        records.note_change(after={"quotas": len(body["quotas"]), "pools": len(body["pools"])})
        code = status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK
        return _answer(principal, found, code=code)


class QuotaPreviewView(APIView):
    @extend_schema(
        operation_id="get_quota_preview",
        summary="How far a preview is, and what came out",
        responses=QuotaPreviewSerializer,
    )
    def get(self, request: Request, preview_id: str) -> Response:
        principal = principal_of(request)
        return _answer(principal, queries.find_replay(principal, _KIND, preview_id))


class QuotaPreviewCancelView(APIView):
    @extend_schema(
        operation_id="cancel_quota_preview",
        summary="Give up a preview",
        request=None,
        responses={202: QuotaPreviewSerializer},
    )
    def post(self, request: Request, preview_id: str) -> Response:
        principal = principal_of(request)
        found = asking.give_up(principal, _KIND, preview_id)
        return _answer(principal, found, code=status.HTTP_202_ACCEPTED)


def _answer(principal: Principal, found: Simulation, *, code: int = status.HTTP_200_OK) -> Response:
    found.result = answers.shown_result(found.result, principal, sees_numbers_of)
    return Response(QuotaPreviewSerializer(found).data, status=code)


def _check_may_ask(principal: Principal, body: Mapping[str, Any]) -> None:
    """Raises: PermissionDenied, if the sender may not change all of this."""
    for team in sorted({change["team"] for change in body["quotas"]}):
        check_may_change(principal, team)
    if body["pools"] and not principal.is_admin:
        raise exceptions.PermissionDenied("Only admins preview pools with other GPUs.")


def _check_places(body: Mapping[str, Any], clusters: PreviewedClusters) -> None:
    """Raises: ValidationError, if there is no such team, or no such pool with GPUs."""
    pools = sorted(pool.name for pool in clusters.now.settings.pools)
    teams = {quota.team for quota in clusters.now.settings.quotas}
    _refuse(
        {
            field: [_wrong_place(one, pools, teams) for one in body[field]]
            for field in ("quotas", "pools")
        }
    )


def _wrong_place(
    change: Mapping[str, Any], pools: list[str], teams: set[str]
) -> dict[str, list[str]]:
    wrong = {}
    if "team" in change and change["team"] not in teams:
        wrong["team"] = [f"There is no team {change['team']!r}."]
    if change["pool"] not in pools:
        names = ", ".join(pools) or "none"
        wrong["pool"] = [f"There is no pool {change['pool']!r} with GPUs. There are: {names}."]
    return wrong


def _check_rules(body: Mapping[str, Any], clusters: PreviewedClusters) -> None:
    """Raises: ValidationError, where saving these quotas would be refused, all of them at once."""
    gpus = {pool.name: sum(n.gpus for n in pool.nodes) for pool in clusters.after.pools}
    wrong: list[dict[str, list[str]]] = []
    for change in body["quotas"]:
        inside = [one for one in clusters.after.quotas if one.pool == change["pool"]]
        parents = {one.team: one.parent for one in inside}
        settings = {one.team: _setting(one) for one in inside}
        problems = quota_rules.problems_of(
            change["team"], settings, parents, gpus=gpus[change["pool"]]
        )
        at_fields: dict[str, list[str]] = {}
        for problem in problems:
            at_fields.setdefault(problem.field, []).append(problem.message)
        wrong.append(at_fields)
    _refuse({"quotas": wrong})


def _refuse(wrong: Mapping[str, list[dict[str, list[str]]]]) -> None:
    """Raises: ValidationError with what is wrong with each row of a field, if anything is."""
    if any(any(rows) for rows in wrong.values()):
        raise serializers.ValidationError(
            {
                field: {str(number): row for number, row in enumerate(rows) if row}
                for field, rows in wrong.items()
            }
        )


def _setting(quota: TeamQuota) -> quota_rules.Setting:
    return quota_rules.Setting(
        guaranteed=quota.guaranteed_gpus,
        limit=quota.limit_gpus,
        lending_limit=quota.lending_limit_gpus,
    )
