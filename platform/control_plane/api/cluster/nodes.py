"""Which nodes are there, and how does an admin take one out of service and put it back?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cluster.models import Node
from cluster.nodes.maintenance import Maintenance, maintain
from django.db.models import Count
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of

from control_plane.queries.visibility import shown_reason
from jobs.api.requests import query
from jobs.queries.stragglers import stragglers_by_node

_MOST = 500


class NodeListQuery(serializers.Serializer[Any]):
    pool = serializers.CharField(
        required=False, default="", allow_blank=True, help_text="Default: every pool."
    )
    after = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        help_text="Names after this one: `next_after` of a page.",
    )
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=_MOST)


class NodeServiceSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    pool = serializers.CharField(source="pool.name")
    gpus = serializers.IntegerField()
    gpus_used = serializers.IntegerField(help_text="0 on a drained node: it may be switched off.")
    is_schedulable = serializers.BooleanField(help_text="false: cordoned, takes no new work.")
    is_draining = serializers.BooleanField(help_text="true: running jobs move away from it.")
    silent_since = serializers.DateTimeField(
        allow_null=True, help_text="It has not answered since then, and takes no new work."
    )
    silent_reason = serializers.SerializerMethodField(help_text="Why, in words; empty: it answers.")
    leaving_because = serializers.SerializerMethodField(
        help_text="Why the cluster takes it back, for which it is drained; empty: it does not."
    )
    memory_bytes = serializers.IntegerField(
        allow_null=True, help_text="Of its machine; null: not known."
    )
    cpus = serializers.IntegerField(allow_null=True, help_text="Of its machine; null: not known.")
    complaints = serializers.SerializerMethodField(
        help_text="For admins: what is too old on its machine, and why that matters."
    )
    stragglers = serializers.SerializerMethodField(
        help_text="Workers found slower than their peers there within the last hour."
    )

    def get_complaints(self, node: Node) -> list[str]:
        return node.complaints.splitlines() if self.context["for_admin"] else []

    def get_silent_reason(self, node: Node) -> str:
        return shown_reason(self.context["principal"], node.silent_reason)

    def get_leaving_because(self, node: Node) -> str:
        return shown_reason(self.context["principal"], node.leaving_because)

    def get_stragglers(self, node: Node) -> int:
        counts: Mapping[str, int] = self.context["stragglers"]
        return counts.get(node.name, 0)


class NodePageSerializer(serializers.Serializer[Any]):
    items = NodeServiceSerializer(many=True)
    next_after = serializers.CharField(allow_null=True, help_text="null: this is the last page.")


class NodesView(APIView):
    @extend_schema(
        operation_id="list_nodes",
        summary="Nodes by name, and whether they take work",
        parameters=[NodeListQuery],
        responses=NodePageSerializer,
    )
    def get(self, request: Request) -> Response:
        parameters = query(request, NodeListQuery)
        nodes = _nodes().filter(name__gt=parameters["after"])
        if parameters["pool"]:
            nodes = nodes.filter(pool__name=parameters["pool"])
        page = list(nodes.order_by("name")[: parameters["limit"] + 1])
        shown = page[: parameters["limit"]]
        following = shown[-1].name if len(page) > len(shown) else None
        page_of = {"items": shown, "next_after": following}
        return Response(NodePageSerializer(page_of, context=_context(request)).data)


class CordonView(APIView):
    @extend_schema(
        operation_id="cordon_node",
        summary="Place nothing new on a node (admins)",
        request=None,
        responses=NodeServiceSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        return _maintained(request, name, Maintenance.CORDON)


class DrainView(APIView):
    @extend_schema(
        operation_id="drain_node",
        summary="Move running jobs away from a node (admins)",
        request=None,
        responses=NodeServiceSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        return _maintained(request, name, Maintenance.DRAIN)


class UncordonView(APIView):
    @extend_schema(
        operation_id="uncordon_node",
        summary="Place work on a node again (admins)",
        request=None,
        responses=NodeServiceSerializer,
    )
    def post(self, request: Request, name: str) -> Response:
        return _maintained(request, name, Maintenance.UNCORDON)


def _maintained(request: Request, name: str, what: Maintenance) -> Response:
    """Return the node as it is wanted from now on."""
    if not principal_of(request).may_anywhere(Permission.ADMINISTER):
        raise exceptions.PermissionDenied("Only an admin may take nodes in and out of service.")
    try:
        node = maintain(name, what)
    except Node.DoesNotExist:
        raise exceptions.NotFound(f"There is no node {name!r}.") from None
    return Response(NodeServiceSerializer(_nodes().get(pk=node.pk), context=_context(request)).data)


def _context(request: Request) -> dict[str, Any]:
    principal = principal_of(request)
    teams = None if principal.is_admin else {team.pk for team in principal.seen.values()}
    return {
        "principal": principal,
        "stragglers": stragglers_by_node(timezone.now(), teams=teams),
        "for_admin": principal.is_admin,
    }


def _nodes() -> Any:
    return Node.objects.select_related("pool").annotate(gpus_used=Count("claims"))
