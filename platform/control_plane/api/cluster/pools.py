"""What is in each pool, and who holds which GPU? Names of jobs are for their own teams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from cluster.models import MachineEvent, MachineRequest, Pool
from cluster.models.machines import MACHINE_EVENT_KINDS
from cluster.models.pool import ADMISSION_VARIANTS
from cluster.nodes.asking import last_events
from cluster.nodes.queries import PoolSize, nodes_of, pool_sizes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from tenancy.access.principal import Principal, principal_of
from tenancy.models import Team, settings_of_pool
from tenancy.quota_rules import total_promised

from autoscaler.control_loop.models import Tick
from control_plane.queries.visibility import OTHER_TEAMS, sees_gpus_of, shown_reason
from control_plane.setup.stored import ASKING_FIELDS
from control_plane.web.repeated.shared_reads import SHARED
from jobs.models import GpuClaim
from jobs.queries import visible_jobs

_MOMENT: Final = serializers.DateTimeField()


class ClaimSerializer(serializers.Serializer[Any]):
    gpu_index = serializers.IntegerField()
    team = serializers.CharField(help_text="`other teams`: one whose GPUs you do not see.")
    worker = serializers.CharField(allow_null=True, help_text="null: another team's.")
    job_id = serializers.CharField(allow_null=True)
    job_name = serializers.CharField(allow_null=True)


class NodeSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    gpus = serializers.IntegerField()
    is_schedulable = serializers.BooleanField(help_text="false: cordoned, takes no new work.")
    is_draining = serializers.BooleanField(help_text="true: running jobs move away from it.")
    silent_since = serializers.DateTimeField(
        allow_null=True, help_text="It has not answered since then, and takes no new work."
    )
    silent_reason = serializers.CharField(help_text="Why, in words; empty: it answers.")
    claims = ClaimSerializer(many=True)


class MachineEventSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    kind = serializers.ChoiceField(MACHINE_EVENT_KINDS)
    node = serializers.CharField(help_text="Empty: of no certain one.")
    reason = serializers.CharField()
    numbers = serializers.DictField(
        child=serializers.FloatField(), help_text="With which it was decided."
    )
    said = serializers.CharField(help_text="All of it in a sentence.")


class PoolMachinesSerializer(serializers.Serializer[Any]):
    nodes_min = serializers.IntegerField()
    nodes_max = serializers.IntegerField()
    gpus_per_node = serializers.IntegerField(help_text="That each machine brings.")
    worth_a_node = serializers.FloatField(
        allow_null=True, help_text="A machine is asked for where one more GPU would add more."
    )
    patience_seconds = serializers.IntegerField(help_text="For so long a need has to last.")
    idle_minutes = serializers.IntegerField(
        help_text="A node on which nothing runs for so long is given back."
    )
    nodes_per_hour = serializers.IntegerField(
        help_text="At most so many are asked for within an hour, and as many given back."
    )
    needed_since = serializers.DateTimeField(
        allow_null=True, help_text="Since then one more node has been needed."
    )
    asked_since = serializers.DateTimeField(
        allow_null=True, help_text="A machine was asked for then, and takes no work yet."
    )
    note = serializers.CharField(
        help_text="Why none is asked for or given back though there is reason to; empty: nothing"
        " hinders."
    )
    events = MachineEventSerializer(many=True, help_text="What was decided last, newest first.")


class PoolSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    gpu_type = serializers.CharField()
    policy = serializers.CharField(help_text="See docs/planning/policies.md.")
    policy_options = serializers.DictField(help_text="What differs from its defaults.")
    admission = serializers.ChoiceField(
        ADMISSION_VARIANTS, help_text="dropping: new jobs that do not fit are refused."
    )
    dollars_per_gpu_hour = serializers.FloatField()
    gpus_total = serializers.IntegerField()
    gpus_used = serializers.IntegerField()
    gpus_missing = serializers.IntegerField(
        help_text="Of those that teams are guaranteed, what is not there now: nodes of a pool that"
        " follows a cluster come and go."
    )
    ray_selector = serializers.DictField(
        help_text="Labels of the machines of its cluster that are its nodes; empty: none."
    )
    following_note = serializers.CharField(
        help_text="For admins: what to know of these machines, a line each; empty: nothing."
    )
    teams_trust_each_other = serializers.BooleanField(
        help_text="true: any team's job may read what the others' have on its machines, because"
        " processes of all teams are one user there, and an admin said that they trust each other."
    )
    machines = PoolMachinesSerializer(
        allow_null=True, help_text="null: the pool asks its cluster for no machines."
    )
    price = serializers.FloatField(allow_null=True, help_text="What one more GPU would add.")
    gap = serializers.FloatField(allow_null=True, help_text="0: the newest plan is optimal.")
    nodes = NodeSerializer(many=True)


class PoolListSerializer(serializers.Serializer[Any]):
    items = PoolSerializer(many=True)


class PoolsView(APIView):
    @extend_schema(
        operation_id="list_pools",
        summary="Pools, their nodes, and who holds which GPU",
        responses=PoolListSerializer,
    )
    def get(self, request: Request) -> Response:
        principal = principal_of(request)
        return Response(SHARED.read("pools", by=principal, read=lambda: self._read(principal)))

    def _read(self, principal: Principal) -> Any:
        sizes = pool_sizes()
        claims = _claims_by_node(principal)
        outcomes = _newest_outcomes()
        nodes: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for node in nodes_of([size.pool for size in sizes]):
            nodes[node.pool_id].append(
                {
                    "name": node.name,
                    "gpus": node.gpus,
                    "is_schedulable": node.is_schedulable,
                    "is_draining": node.is_draining,
                    "silent_since": _written(node.silent_since),
                    "silent_reason": shown_reason(principal, node.silent_reason),
                    "claims": claims.get(node.pk, []),
                }
            )
        # As it stands: serializers would take most of the time, of a dozen values for each GPU.
        promised = _promised([size.pool for size in sizes if size.pool.follows])
        machines = _machines([size.pool for size in sizes if size.pool.nodes_max is not None])
        items = []
        for size in sizes:
            pool = size.pool
            missing = max(promised.get(pool.pk, 0) - size.gpus, 0)
            note = pool.following_note if principal.is_admin and pool.follows else ""
            more = {
                "gpus_missing": missing,
                "following_note": note,
                "machines": machines.get(pool.pk),
            }
            items.append({**_pool(size, nodes[pool.pk], outcomes), **more})
        return {"items": items}


def _promised(pools: Sequence[Pool]) -> Mapping[int, int]:
    """Return what teams are guaranteed together of each pool, by its id."""
    if not pools:
        return {}
    parents = Team.parents_by_name()
    return {pool.pk: total_promised(settings_of_pool(pool.pk), parents) for pool in pools}


def _machines(pools: Sequence[Pool]) -> Mapping[int, Mapping[str, Any]]:
    """Return what these ask for and have asked for, by their ids."""
    if not pools:
        return {}
    requests = MachineRequest.objects.filter(pool__in=pools, ended_at=None)
    asked = dict(requests.values_list("pool_id", "asked_at"))
    events = last_events(pools)
    return {
        pool.pk: {
            **{name: getattr(pool, name) for name in (*ASKING_FIELDS, "gpus_per_node")},
            "needed_since": _written(pool.needs_a_node_since),
            "asked_since": _written(asked.get(pool.pk)),
            "note": pool.asking_note,
            "events": [_event(event) for event in events.get(pool.name, ())],
        }
        for pool in pools
    }


def _event(event: MachineEvent) -> Mapping[str, Any]:
    return {
        "at": _written(event.at),
        "kind": event.kind,
        "node": event.node,
        "reason": event.reason,
        "numbers": event.numbers,
        "said": event.told,
    }


def _written(moment: datetime | None) -> str | None:
    """Write nodes as `NodeSerializer` would."""
    return None if moment is None else str(_MOMENT.to_representation(moment))


def _pool(
    size: PoolSize, nodes: list[dict[str, Any]], outcomes: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    outcome = outcomes.get(size.pool.name, {})
    return {
        "name": size.pool.name,
        "gpu_type": size.pool.gpu_type,
        "policy": size.pool.policy,
        "policy_options": size.pool.policy_options,
        "admission": size.pool.admission,
        "dollars_per_gpu_hour": size.pool.dollars_per_gpu_hour,
        "ray_selector": size.pool.ray_selector,
        "teams_trust_each_other": size.pool.is_open_among_teams,
        "gpus_total": size.gpus,
        "gpus_used": sum(len(node["claims"]) for node in nodes),
        "price": outcome.get("price"),
        "gap": outcome.get("gap"),
        "nodes": nodes,
    }


def _claims_by_node(principal: Principal) -> dict[int, list[dict[str, Any]]]:
    by_node: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    reached = None if principal.bounds is None else _holders_within_reach(principal)
    rows = GpuClaim.objects.order_by("gpu_index").values_list(
        "node_id", "gpu_index", "worker_id", "worker__job_id", "worker__job__name",
        "worker__job__team__name",
    )  # fmt: skip
    for node_id, gpu_index, worker, job_id, job_name, team in rows:
        is_own = team in principal.seen and (reached is None or job_id in reached)
        by_node[node_id].append(
            {
                "gpu_index": gpu_index,
                "team": team if sees_gpus_of(principal, team) else OTHER_TEAMS,
                "worker": worker if is_own else None,
                "job_id": job_id if is_own else None,
                "job_name": job_name if is_own else None,
            }
        )
    return by_node


def _holders_within_reach(principal: Principal) -> Collection[str]:
    """Return the jobs that hold GPUs, of those that a limited token reaches."""
    holders = GpuClaim.objects.values("worker__job")
    reached = visible_jobs.jobs_of(principal).filter(pk__in=holders)
    return frozenset(reached.values_list("pk", flat=True))


def _newest_outcomes() -> dict[str, dict[str, Any]]:
    """Return what the newest recorded tick said about each pool, by name."""
    tick = Tick.objects.order_by("-at").first()
    return {outcome["pool"]: outcome for outcome in tick.pools} if tick else {}
