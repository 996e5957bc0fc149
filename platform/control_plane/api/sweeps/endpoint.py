"""The endpoints of sweeps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from drf_spectacular.utils import extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from schedules import holders
from sweeps import beginning, reading
from sweeps.models import Sweep
from tenancy.access.principal import Principal, principal_of

from control_plane.api.sweeps.documents import (
    SweepCurvesSerializer,
    SweepDetailSerializer,
    SweepPageSerializer,
    SweepQuery,
)
from control_plane.api.sweeps.spec_schema import SWEEP_BODY
from jobs.api.collection import (
    IDEMPOTENCY_KEY,
    KnowsPools,
    idempotency_key,
    teams_to_submit_for,
)
from jobs.api.requests import ReasonBody, body, query, traceparent


class SweepsView(KnowsPools):
    @extend_schema(
        operation_id="list_sweeps",
        summary="List sweeps, the newest first",
        parameters=[SweepQuery],
        responses=SweepPageSerializer,
    )
    def get(self, request: Request) -> Response:
        page = reading.page_of(principal_of(request), **query(request, SweepQuery))
        return Response(SweepPageSerializer(page).data)

    @extend_schema(
        operation_id="submit_sweep",
        summary="Search the best values of parameters by many trials",
        description="The body is a job spec with the field `sweep`. All trials are checked now; a"
        " few are submitted at once, and the others as places get free, in the name of whoever asks"
        " now and as long as they may submit. With `asha`, trials that fall behind are stopped"
        " early. `Idempotency-Key` as for one job.",
        parameters=[IDEMPOTENCY_KEY],
        request=SWEEP_BODY,
        responses={201: SweepDetailSerializer, 200: SweepDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        sweep, notes, is_new = beginning.begin(
            holders.holder_of(request, principal),
            request.data,
            key=idempotency_key(request),
            teams=teams_to_submit_for(principal),
            pools=self.pools(),
            count_jobs=partial(self.count_jobs, request),
            traceparent=traceparent(request),
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return _answer(principal, sweep, notes=notes, code=code)


class SweepView(APIView):
    @extend_schema(
        operation_id="get_sweep",
        summary="Read a sweep with all its trials, their rungs and the best of them",
        responses=SweepDetailSerializer,
    )
    def get(self, request: Request, sweep_id: str) -> Response:
        principal = principal_of(request)
        return _answer(principal, reading.find(principal, sweep_id))


class SweepCurvesView(APIView):
    @extend_schema(
        operation_id="list_sweep_curves",
        summary="The metric of trials over their training",
        description=f"Of the first {reading.MOST_CURVES} trials that have started.",
        responses=SweepCurvesSerializer,
    )
    def get(self, request: Request, sweep_id: str) -> Response:
        sweep = reading.find(principal_of(request), sweep_id)
        return Response(SweepCurvesSerializer({"items": reading.curves_of(sweep)}).data)


class CancelSweepView(APIView):
    @extend_schema(
        operation_id="cancel_sweep",
        summary="Stop all trials of a sweep for good, and submit no more",
        description="If some of its live trials are not the caller's to change, nothing is done.",
        request=ReasonBody,
        responses={202: SweepDetailSerializer},
    )
    def post(self, request: Request, sweep_id: str) -> Response:
        principal = principal_of(request)
        sweep = reading.find(principal, sweep_id)
        beginning.cancel(principal, sweep, reason=body(request, ReasonBody)["reason"])
        return _answer(principal, sweep, code=status.HTTP_202_ACCEPTED)


def _answer(
    principal: Principal,
    sweep: Sweep,
    *,
    notes: Sequence[str] = (),
    code: int = status.HTTP_200_OK,
) -> Response:
    shown = reading.shown(principal, sweep, notes=notes)
    return Response(SweepDetailSerializer(shown).data, status=code)
