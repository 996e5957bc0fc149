"""How is one object of the set-up made, changed or removed, as a document would do it?

Each view adds to one that reads, so that an address has one view.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.audit import records

from control_plane.api.cluster.nodes import NodesView
from control_plane.api.cluster.pools import PoolsView
from control_plane.api.setup.documents import (
    NodeSetupSerializer,
    PoolSetupSerializer,
    TeamSetupSerializer,
)
from control_plane.api.setup.endpoint import check_admin, checked
from control_plane.api.setup.fields import check_node_name
from control_plane.api.teams.quotas import QuotaView
from control_plane.api.teams.teams import TeamsView, TeamView
from control_plane.setup import applying
from control_plane.setup.applying import SetupOutcome
from control_plane.setup.nesting import POOLS, TEAMS, WantedSetup, flattened, nested
from control_plane.setup.objects import POOL_OF, Fields, SetupKey, SetupKind

_SLUG = r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$"


def _name() -> Any:
    return serializers.RegexField(_SLUG, max_length=40, help_text="That no other one has.")


class NewTeamSerializer(TeamSetupSerializer):
    """A team as it is to be; what is left out has its default."""

    name = _name()

    class Meta(TeamSetupSerializer.Meta):
        fields = ("name", *TeamSetupSerializer.Meta.fields)


class NewPoolSerializer(PoolSetupSerializer):
    """A pool as it is to be; what is left out has its default."""

    name = _name()

    class Meta(PoolSetupSerializer.Meta):
        fields = ("name", *PoolSetupSerializer.Meta.fields)


class ChangedNodeSerializer(NodeSetupSerializer):
    """A node; the pool that it is in, or moves to."""

    pool = serializers.RegexField(_SLUG, max_length=40, required=False)

    class Meta(NodeSetupSerializer.Meta):
        fields = ("pool", *NodeSetupSerializer.Meta.fields)


class NewNodeSerializer(ChangedNodeSerializer):
    """A node as it is to be."""

    name = serializers.CharField(max_length=80, validators=[check_node_name])
    pool = serializers.RegexField(_SLUG, max_length=40)
    gpus = serializers.IntegerField(min_value=1, max_value=1024)

    class Meta(ChangedNodeSerializer.Meta):
        fields = ("name", *ChangedNodeSerializer.Meta.fields)


class TeamsWithNewView(TeamsView):
    @extend_schema(
        operation_id="add_team",
        summary="Make a team (admins)",
        request=NewTeamSerializer,
        responses={201: NewTeamSerializer},
    )
    def post(self, request: Request) -> Response:
        return _made(request, NewTeamSerializer, SetupKind.TEAM, TEAMS)


class TeamWithEndView(TeamView):
    @extend_schema(
        operation_id="delete_team",
        summary="Remove a team that nothing belongs to (admins)",
        description="Neither jobs, also those that have ended, nor members, valid tokens, models,"
        " secrets, webhooks, uploaded data, nor teams below it. Its quotas, limits and image rules"
        " go with it.",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, name: str) -> Response:
        return _removed(request, SetupKey(SetupKind.TEAM, "", name))


class QuotaWithEndView(QuotaView):
    @extend_schema(
        operation_id="delete_quota",
        summary="Let a team be without a quota in a pool (admins)",
        description="It may go on using what is idle.",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, name: str, pool: str) -> Response:
        return _removed(request, SetupKey(SetupKind.QUOTA, name, pool))


class PoolsWithNewView(PoolsView):
    @extend_schema(
        operation_id="add_pool",
        summary="Make a pool (admins)",
        request=NewPoolSerializer,
        responses={201: NewPoolSerializer},
    )
    def post(self, request: Request) -> Response:
        return _made(request, NewPoolSerializer, SetupKind.POOL, POOLS)


class PoolView(APIView):
    @extend_schema(
        operation_id="change_pool",
        summary="Change a pool: its policy, its fair-share settings, its nodes (admins)",
        description="What is not named stays, each node included.",
        request=PoolSetupSerializer,
        responses=NewPoolSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        check_admin(request)
        said = checked(PoolSetupSerializer(data=request.data, partial=True))
        key = SetupKey(SetupKind.POOL, "", name)
        outcome = applying.change(key, lambda _: flattened({POOLS: {name: said}}))
        return Response(_shown(outcome, key, POOLS))

    @extend_schema(
        operation_id="delete_pool",
        summary="Remove a pool without jobs, with its nodes and quotas (admins)",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, name: str) -> Response:
        return _removed(request, SetupKey(SetupKind.POOL, "", name))


class NodesWithNewView(NodesView):
    @extend_schema(
        operation_id="add_node",
        summary="Add a node to a pool (admins)",
        request=NewNodeSerializer,
        responses={201: NewNodeSerializer},
    )
    def post(self, request: Request) -> Response:
        check_admin(request)
        said = checked(NewNodeSerializer(data=request.data))
        key = SetupKey(SetupKind.NODE, "", said.pop("name"))
        outcome = applying.create(key, _of_node(key, said))
        records.note_target(target=f"nodes/{key.name}")
        return Response(_node(outcome, key), status=201)


class NodeView(APIView):
    @extend_schema(
        operation_id="change_node",
        summary="Change where a node is, its GPUs or its pool (admins)",
        description="What is not named stays. While jobs have its GPUs it neither moves nor has"
        " fewer of them.",
        request=ChangedNodeSerializer,
        responses=NewNodeSerializer,
    )
    def patch(self, request: Request, name: str) -> Response:
        check_admin(request)
        said = checked(ChangedNodeSerializer(data=request.data, partial=True))
        key = SetupKey(SetupKind.NODE, "", name)
        return Response(_node(applying.change(key, lambda now: _of_node(key, said, now)), key))

    @extend_schema(
        operation_id="delete_node",
        summary="Remove a node that no job uses (admins)",
        request=None,
        responses={204: None},
    )
    def delete(self, request: Request, name: str) -> Response:
        return _removed(request, SetupKey(SetupKind.NODE, "", name))


def _made(
    request: Request, form: type[serializers.Serializer[Any]], kind: SetupKind, part: str
) -> Response:
    """Make a team or a pool, whose part of a document has the name of its address."""
    check_admin(request)
    said = checked(form(data=request.data))
    key = SetupKey(kind, "", said.pop("name"))
    outcome = applying.create(key, flattened({part: {key.name: said}}))
    records.note_target(target=f"{part}/{key.name}")
    return Response(_shown(outcome, key, part), status=201)


def _of_node(key: SetupKey, said: Mapping[str, Any], now: Fields | None = None) -> WantedSetup:
    own = {**said, POOL_OF: said.get(POOL_OF) or (now or {})[POOL_OF]}
    return WantedSetup(objects={key: own}, whole=frozenset())


def _removed(request: Request, key: SetupKey) -> Response:
    check_admin(request)
    applying.remove(key)
    return Response(status=204)


def _shown(outcome: SetupOutcome, key: SetupKey, part: str) -> Any:
    return {"name": key.name, **nested(outcome.objects)[part][key.name]}


def _node(outcome: SetupOutcome, key: SetupKey) -> Any:
    return {"name": key.name, **outcome.objects[key]}
