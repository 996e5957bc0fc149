"""The endpoints of simulations: ask for one, follow it, read it, give it up."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import principal_of
from tenancy.audit import records

from autoscaler.simulation.api import commands, limits, queries, tasks, workloads
from autoscaler.simulation.api.rest import requests, serializers

MOST_LISTED: Final = 100


class SimulationsView(APIView):
    @extend_schema(
        operation_id="list_simulations",
        summary="Simulations, newest first",
        description="Admins see everybody's, others their own. At most 100.",
        responses=serializers.SimulationListSerializer,
    )
    def get(self, request: Request) -> Response:
        items = queries.simulations_of(principal_of(request)).defer("result")[:MOST_LISTED]
        return Response(serializers.SimulationListSerializer({"items": items}).data)

    @extend_schema(
        operation_id="request_simulation",
        summary="Simulate a workload in the background",
        description="For admins; team leads may simulate generated and uploaded workloads. Poll"
        " the simulation's address until its state is final.",
        request=requests.SimulationRequestSerializer,
        responses={202: serializers.SimulationDetailSerializer},
    )
    def post(self, request: Request) -> Response:
        principal = principal_of(request)
        limits.check_may_simulate(principal)
        body = requests.checked(request.data)
        limits.check_source(principal, body)
        runs = len(workloads.candidates_for(body))
        limits.check_size(workloads.trace_for(body), runs)
        with transaction.atomic():
            made = commands.request(
                title=body["title"],
                body=body,
                requested_by=principal.name,
                owner_id=principal.person_id,
            )
            transaction.on_commit(tasks.ask)
        records.note_target(target=f"simulations/{made.pk}")
        records.note_change(after={"title": made.title})
        answer = serializers.SimulationDetailSerializer(made).data
        return Response(answer, status=status.HTTP_202_ACCEPTED)


class SimulationView(APIView):
    @extend_schema(
        operation_id="get_simulation",
        summary="How far a simulation is, and what came out",
        responses=serializers.SimulationDetailSerializer,
    )
    def get(self, request: Request, simulation_id: str) -> Response:
        return _answer(request, simulation_id)


class SimulationCancelView(APIView):
    @extend_schema(
        operation_id="cancel_simulation",
        summary="Give up a simulation",
        request=None,
        responses={202: serializers.SimulationDetailSerializer},
    )
    def post(self, request: Request, simulation_id: str) -> Response:
        commands.cancel(queries.find_simulation(principal_of(request), simulation_id))
        return _answer(request, simulation_id, code=status.HTTP_202_ACCEPTED)


class ReportView(APIView):
    @extend_schema(
        operation_id="get_simulation_report",
        summary="The HTML report of a completed simulation",
        responses={(200, "text/html"): OpenApiResponse(OpenApiTypes.STR)},
    )
    def get(self, request: Request, simulation_id: str) -> HttpResponse:
        simulation = queries.find_simulation(principal_of(request), simulation_id)
        name = f'attachment; filename="simulation-{simulation.pk}.html"'
        html = queries.report_of(simulation)
        return HttpResponse(html, content_type="text/html", headers={"Content-Disposition": name})


def _answer(request: Request, simulation_id: str, *, code: int = status.HTTP_200_OK) -> Response:
    simulation = queries.find_simulation(principal_of(request), simulation_id)
    return Response(serializers.SimulationDetailSerializer(simulation).data, status=code)
