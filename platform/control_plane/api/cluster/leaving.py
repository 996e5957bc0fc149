"""Whom does it hit if a node is taken out of service? Asked before one does it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from cluster.models import Node
from django.db.models import Count, F, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.permissions import Permission
from tenancy.access.principal import principal_of

from autoscaler.planning.snapshot.vocabulary import Preemptibility
from jobs.job_mode import JobMode
from jobs.models import GpuClaim, Job
from jobs.spec.stored_fields import GPUS_PER_WORKER, MIN_WORKERS, MODE, PREEMPTIBILITY

_MOST: Final = 500  # jobs


class WithoutRoom(StrEnum):
    """What a drain means for a job where no other node has room for it."""

    SHRINKS = "shrinks"  # it trains on with its workers on other nodes
    PAUSES = "pauses"  # after a checkpoint, until there is room
    STAYS = "stays"  # it may not be paused: the node stays in use until it ends


class LeavingJobSerializer(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    team = serializers.CharField()
    mode = serializers.ChoiceField(JobMode.choices())
    workers_here = serializers.IntegerField(help_text="That hold GPUs of this node.")
    workers_elsewhere = serializers.IntegerField()
    gpus_here = serializers.IntegerField()
    min_workers = serializers.IntegerField()
    can_move = serializers.BooleanField(
        help_text="While it trains. false: of mode `fixed`, or nothing says that its workers share"
        " the work; it pauses and starts again elsewhere."
    )
    workers_with_room = serializers.IntegerField(
        help_text="For how many workers of its size other nodes have room, if nobody else takes it."
    )
    without_room = serializers.ChoiceField(
        [one.value for one in WithoutRoom],
        help_text="What a drain means for it if no other node has room: it `shrinks` to its workers"
        " elsewhere, `pauses` after a checkpoint, or `stays` until it ends.",
    )


class LeavingSerializer(serializers.Serializer[Any]):
    gpus_free_elsewhere = serializers.IntegerField(
        help_text="Of the pool, on other nodes that take new work."
    )
    count = serializers.IntegerField(help_text="Of jobs that hold GPUs of the node, in all.")
    items = LeavingJobSerializer(many=True, help_text=f"At most {_MOST}, by name.")


class NodeJobsView(APIView):
    @extend_schema(
        operation_id="list_node_jobs",
        summary="Which jobs a cordon or drain of a node would hit (admins)",
        responses=LeavingSerializer,
    )
    def get(self, request: Request, name: str) -> Response:
        if not principal_of(request).may_anywhere(Permission.ADMINISTER):
            raise exceptions.PermissionDenied("Only an admin may take nodes in and out of service.")
        node = Node.objects.filter(name=name).first()
        if node is None:
            raise exceptions.NotFound(f"There is no node {name!r}.")
        jobs = _jobs_on(node)
        free = _free_elsewhere(node)
        answer = {
            "gpus_free_elsewhere": sum(gpus * nodes for gpus, nodes in free.items()),
            "count": jobs.count(),
            "items": [_leaving(row, free) for row in jobs[:_MOST]],
        }
        return Response(LeavingSerializer(answer).data)


def _jobs_on(node: Node) -> QuerySet[Job, dict[str, Any]]:
    here = Q(workers__claims__node=node)
    jobs: QuerySet[Job, dict[str, Any]] = (
        Job.objects.filter(pk__in=GpuClaim.objects.filter(node=node).values("worker__job"))
        .annotate(
            gpus_here=Count("workers__claims", filter=here),
            gpus=Count("workers__claims"),
            min_workers=F(MIN_WORKERS.lookup),
            gpus_per_worker=F(GPUS_PER_WORKER.lookup),
            preemptibility=F(PREEMPTIBILITY.lookup),
            declared_mode=F(MODE.lookup),
        )
        .order_by("name", "id")
        .values(
            *("id", "name", "team__name", "mode", "gpus_here", "gpus", "min_workers"),
            *("gpus_per_worker", "preemptibility", "declared_mode", "group_seen_at"),
        )
    )
    return jobs


def _free_elsewhere(node: Node) -> Counter[int]:
    """Return how many other nodes that take new work have so many free GPUs."""
    others = Node.objects.filter(pool=node.pool_id, is_schedulable=True, silent_since=None)
    sizes = others.exclude(pk=node.pk).annotate(used=Count("claims")).values_list("gpus", "used")
    return Counter(max(gpus - used, 0) for gpus, used in sizes)


def _can_move(row: Mapping[str, Any]) -> bool:
    """Return what the planner says: of a plain script, each worker would do all of the work."""
    declared = row["declared_mode"]
    is_plain = row["mode"] == JobMode.RESTART and declared != JobMode.RESTART
    return declared != JobMode.FIXED and not (is_plain and row["group_seen_at"] is None)


def _leaving(row: Mapping[str, Any], free: Counter[int]) -> dict[str, Any]:
    size, least = row["gpus_per_worker"] or 1, row["min_workers"] or 1
    here, elsewhere = row["gpus_here"] // size, (row["gpus"] - row["gpus_here"]) // size
    can_move = _can_move(row)
    if elsewhere >= least and can_move:
        outcome = WithoutRoom.SHRINKS
    elif row["preemptibility"] == Preemptibility.NON_PREEMPTIBLE:
        outcome = WithoutRoom.STAYS
    else:
        outcome = WithoutRoom.PAUSES
    return {
        "id": row["id"],
        "name": row["name"],
        "team": row["team__name"],
        "mode": row["mode"],
        "workers_here": here,
        "workers_elsewhere": elsewhere,
        "gpus_here": row["gpus_here"],
        "min_workers": least,
        "can_move": can_move,
        "workers_with_room": sum(gpus // size * nodes for gpus, nodes in free.items()),
        "without_room": outcome.value,
    }
