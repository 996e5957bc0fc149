"""What is each GPU of a team's guarantee worth? Its leads may ask, and whoever may change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import Principal, principal_of
from tenancy.audit import records

from autoscaler.simulation.api import limits, queries, tasks
from autoscaler.simulation.api.models import Simulation
from autoscaler.simulation.api.previews import asking as replays
from autoscaler.simulation.api.previews.clusters import ClusterNow, cluster_now
from autoscaler.simulation.api.quota_prices import asking
from control_plane.api.replays.documents import ReplaySerializer, TeamOutcomeSerializer
from control_plane.queries.visibility import sees_numbers_of
from jobs.api import json_types
from jobs.api.requests import KnownFieldsMixin

_KIND: Final = Simulation.Kind.QUOTA_PRICE
MOST_STEPS: Final = 8  # each is a replay
_LARGEST_STEP: Final = 10_000


class QuotaPriceRequestSerializer(KnownFieldsMixin, serializers.Serializer[Any]):
    """Whose guarantee, by how many GPUs it varies, and how many days of the past are replayed."""

    team = serializers.CharField(max_length=40)
    pool = serializers.CharField(max_length=40, default="default")
    steps = serializers.ListField(
        child=serializers.IntegerField(min_value=-_LARGEST_STEP, max_value=_LARGEST_STEP),
        required=False,
        min_length=1,
        max_length=MOST_STEPS,
        help_text="GPUs that the guarantee has more; negative: fewer. Left out: 2 and 1 fewer, 1, 2"
        " and 4 more, as far as it has them to give.",
    )
    days = serializers.FloatField(
        default=7.0, min_value=0.01, max_value=limits.MOST_DAYS_OF_PAST, help_text="The last days."
    )

    def validate_days(self, value: float) -> float:
        """Those who ask from a moment on ask alike for some minutes, and share what is kept."""
        return round(value, 2)

    def validate_steps(self, value: list[int]) -> list[int]:
        if 0 in value or len(set(value)) < len(value):
            raise serializers.ValidationError("Name each step once, and no step of 0 GPUs.")
        return value


class OtherTeamChangeSerializer(serializers.Serializer[Any]):
    """What it meant for another team of the pool."""

    team = serializers.CharField()
    job_hours_saved = serializers.FloatField(
        allow_null=True, help_text="Negative: its jobs took longer. null: other jobs finished."
    )


class PriceEffectSerializer(serializers.Serializer[Any]):
    """How the team and the others fared with it."""

    team = TeamOutcomeSerializer(allow_null=True)
    job_hours_saved = serializers.FloatField(
        allow_null=True,
        help_text="By which all of the team's jobs together ended earlier; negative: later. null:"
        " not the same number of them finished.",
    )
    others = OtherTeamChangeSerializer(
        many=True, help_text="For which something changed, and whose numbers the reader sees."
    )


class PriceStepSerializer(PriceEffectSerializer):
    """The guarantee with some GPUs more or fewer."""

    gpus = serializers.IntegerField(help_text="More; negative: fewer.")
    adds_gpus = serializers.IntegerField(
        help_text="Of these, as many as the pool has promised to others already, and has more here."
    )


class QuotaPriceResultSerializer(serializers.Serializer[Any]):
    """What came out."""

    until = serializers.DateTimeField(help_text="The past goes up to then.")
    jobs = serializers.IntegerField(help_text="That were replayed, of all teams.")
    now = TeamOutcomeSerializer(
        allow_null=True, help_text="As it is. null: neither jobs nor a guarantee."
    )
    without_borrowing = PriceEffectSerializer(
        allow_null=True,
        help_text="As if it could hold its guarantee and no more; what it saves is negative where"
        " borrowed GPUs helped. null: it is guaranteed nothing.",
    )
    steps = PriceStepSerializer(many=True)


class QuotaPriceSerializer(ReplaySerializer):
    request = QuotaPriceRequestSerializer(read_only=True)
    result = QuotaPriceResultSerializer(allow_null=True, read_only=True)


class QuotaPricesView(APIView):
    @extend_schema(
        operation_id="request_quota_price",
        summary="Find out what a GPU more or less is worth to a team, in the background",
        description="For leads of the team or one above, and admins. The recent past is replayed"
        " with each step, and without borrowing. Poll the address until the state is final. Whoever"
        " asks alike within an hour is given what there is, with 200.",
        request=QuotaPriceRequestSerializer,
        responses={200: QuotaPriceSerializer, 202: QuotaPriceSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        form = QuotaPriceRequestSerializer(data=request.data)
        json_types.check(form)
        form.is_valid(raise_exception=True)
        body: Mapping[str, Any] = form.validated_data
        _check_may_ask(principal, body["team"])
        now = cluster_now(days=body["days"])
        _check_place(body, now)
        asked = asking.question(
            now,
            team=body["team"],
            pool=body["pool"],
            steps=body.get("steps"),
            days=body["days"],
        )
        found, is_new = asking.price(principal, asked, now, wake_worker=tasks.ask)
        records.note_target(target=f"quota-prices/{found.pk}")
        records.note_change(after={"team": body["team"], "pool": body["pool"]})
        code = status.HTTP_202_ACCEPTED if is_new else status.HTTP_200_OK
        return _answer(principal, found, code=code)


class QuotaPriceView(APIView):
    @extend_schema(
        operation_id="get_quota_price",
        summary="How far the replays are, and what came out",
        responses=QuotaPriceSerializer,
    )
    def get(self, request: Request, price_id: str) -> Response:
        principal = principal_of(request)
        return _answer(principal, queries.find_replay(principal, _KIND, price_id))


class QuotaPriceCancelView(APIView):
    @extend_schema(
        operation_id="cancel_quota_price",
        summary="Give up the replays",
        request=None,
        responses={202: QuotaPriceSerializer},
    )
    def post(self, request: Request, price_id: str) -> Response:
        principal = principal_of(request)
        found = replays.give_up(principal, _KIND, price_id)
        return _answer(principal, found, code=status.HTTP_202_ACCEPTED)


def _answer(principal: Principal, found: Simulation, *, code: int = status.HTTP_200_OK) -> Response:
    result = found.result
    if result is not None:
        for one in (*result["steps"], result["without_borrowing"]):
            if one is not None:
                one["others"] = [
                    other for other in one["others"] if sees_numbers_of(principal, other["team"])
                ]
    return Response(QuotaPriceSerializer(found).data, status=code)


def _check_may_ask(principal: Principal, name: str) -> None:
    """Let admins ask, and leads of the team or one above it.

    Raises:
        PermissionDenied: somebody else asks.
        ValidationError: an admin asks about a team that is not there.
    """
    team = principal.seen.get(name)
    if team is None and principal.is_admin:
        raise serializers.ValidationError({"team": [f"There is no team {name!r}."]})
    if team is None or not principal.may_in(Permission.DIVIDE_QUOTAS, team.pk):
        raise exceptions.PermissionDenied(
            "Only admins ask for the price of a quota, and leads of the team or one above it."
        )


def _check_place(body: Mapping[str, Any], now: ClusterNow) -> None:
    """Raises: ValidationError, if there is no such pool with GPUs."""
    pools = sorted(pool.name for pool in now.settings.pools)
    if body["pool"] not in pools:
        names = ", ".join(pools) or "none"
        raise serializers.ValidationError(
            {"pool": [f"There is no pool {body['pool']!r} with GPUs. There are: {names}."]}
        )
