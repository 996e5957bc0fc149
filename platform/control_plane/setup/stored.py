"""What has the database of the set-up? Seven statements read it, whatever its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from cluster.models import Node, Pool, PrefetchedImage
from django.core.exceptions import ObjectDoesNotExist
from django.db import models
from tenancy.models import FairShareSettings, ImageRule, Quota, Team, TeamLimits

from control_plane.setup.objects import (
    POOL_OF,
    Fields,
    SetupKey,
    SetupKind,
    SetupObjects,
    needed_by,
    version_of,
)
from jobs.models import JobTemplate, TeamRules
from jobs.spec.rules.rule_set import PARTS

ASKING_FIELDS: Final = (  # of a pool that asks its cluster for machines
    *("nodes_min", "nodes_max", "worth_a_node"),
    *("patience_seconds", "idle_minutes", "nodes_per_hour"),
)
FIELDS: Final[Mapping[SetupKind, tuple[str, ...]]] = {
    SetupKind.POOL: (
        *("gpu_type", "policy", "policy_options", "admission", "dollars_per_gpu_hour"),
        *("all_reduce", "ray_selector", "gpus_per_node"),
        *ASKING_FIELDS,
        "teams_trust_each_other",
    ),
    SetupKind.NODE: ("gpus", "address", "host_url", "service_url", "gpu_uuids"),
    SetupKind.PREFETCHED_IMAGE: (),
    SetupKind.TEAM: (
        *("max_queued_jobs", "most_disk_gib", "network", "reachable", "members_change_all_jobs"),
    ),
    SetupKind.QUOTA: (
        *("guaranteed_gpus", "limit_gpus", "lending_limit_gpus", "over_quota_weight"),
    ),
    SetupKind.IMAGE_RULE: (),
    SetupKind.TEMPLATE: ("description", "spec"),
}
PARENT: Final = "parent"
FAIR_SHARE_FIELDS: Final = (
    *("half_life_hours", "usage_weight", "reclaim_target", "reclaim_delay_seconds"),
    *("reclaim_min_runtime_seconds", "reclaim_seconds"),
)
TEAM_LIMIT_FIELDS: Final = (
    *("max_running_jobs", "max_running_jobs_per_user", "max_queued_jobs_per_user"),
    *("max_gpus_per_user", "gpu_hours_per_month", "when_used_up"),
)
FAIR_SHARE: Final = "fair_share"
LIMITS: Final = "limits"
RULES: Final = "rules"
RULE_FIELDS: Final = (*PARTS, "is_locked")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSetup:
    """The set-up as it is, and the row of each of its objects."""

    objects: SetupObjects
    rows: Mapping[SetupKey, Any]
    is_held: bool = False
    followed: frozenset[str] = frozenset()  # nodes that come and go with a cluster: no objects

    @property
    def version(self) -> str:
        return version_of(self.objects)


def read(*, is_held: bool = False) -> StoredSetup:
    """Read all of it; `is_held`: nobody changes quotas until the end of the transaction."""
    if is_held:
        _hold()
    rows: dict[SetupKey, Any] = {}
    objects: dict[SetupKey, Fields] = {}
    nodes = list(Node.objects.select_related("pool"))
    followed = frozenset(node.name for node in nodes if node.pool.follows)
    own_nodes = [node for node in nodes if node.name not in followed]
    for key, row, more in (*_of_pools(own_nodes), *_of_teams()):
        if any(one not in objects for one in needed_by(key, more)):
            continue  # made since the statement before: whoever sends this version is refused
        rows[key] = row
        objects[key] = {**{field: getattr(row, field) for field in FIELDS[key.kind]}, **more}
    return StoredSetup(objects=objects, rows=rows, is_held=is_held, followed=followed)


def _of_pools(nodes: Iterable[Node]) -> Iterator[tuple[SetupKey, models.Model, Fields]]:
    for pool in Pool.objects.select_related(FAIR_SHARE):
        sharing = _part(pool, FAIR_SHARE, FAIR_SHARE_FIELDS, FairShareSettings())
        yield SetupKey(SetupKind.POOL, "", pool.name), pool, sharing
    for node in nodes:
        yield SetupKey(SetupKind.NODE, "", node.name), node, {POOL_OF: node.pool.name}
    for image in PrefetchedImage.objects.select_related("pool"):
        yield SetupKey(SetupKind.PREFETCHED_IMAGE, image.pool.name, image.image), image, {}


def _of_teams() -> Iterator[tuple[SetupKey, models.Model, Fields]]:
    for team in Team.objects.select_related("parent", LIMITS, RULES):
        yield SetupKey(SetupKind.TEAM, "", team.name), team, _more_of_team(team)
    for quota in Quota.objects.select_related("team", "pool"):
        yield SetupKey(SetupKind.QUOTA, quota.team.name, quota.pool.name), quota, {}
    for rule in ImageRule.objects.select_related("team"):
        of = rule.team.name if rule.team else ""
        yield SetupKey(SetupKind.IMAGE_RULE, of, rule.pattern), rule, {}
    for template in JobTemplate.objects.select_related("team"):
        yield SetupKey(SetupKind.TEMPLATE, template.team.name, template.name), template, {}


def _more_of_team(team: Team) -> dict[str, Any]:
    return {
        PARENT: team.parent.name if team.parent else None,
        **_part(team, LIMITS, TEAM_LIMIT_FIELDS, TeamLimits()),
        **_part(team, RULES, RULE_FIELDS, TeamRules()),
    }


def _hold() -> None:
    """Wait for whoever changes the set-up or a quota now.

    It is a statement of its own: one that has waited still sees other tables as they were before.
    """
    held = Pool.objects.select_for_update(no_key=True).order_by("pk")
    list(held.values_list("pk"))


@cache
def defaults() -> Mapping[SetupKind, Fields]:
    """Return with what new objects begin."""
    made: dict[SetupKind, models.Model] = {
        SetupKind.POOL: Pool(),
        SetupKind.NODE: Node(),
        SetupKind.PREFETCHED_IMAGE: PrefetchedImage(),
        SetupKind.TEAM: Team(),
        SetupKind.QUOTA: Quota(),
        SetupKind.IMAGE_RULE: ImageRule(),
        SetupKind.TEMPLATE: JobTemplate(),
    }
    own = {kind: {name: getattr(made[kind], name) for name in FIELDS[kind]} for kind in made}
    own[SetupKind.POOL] |= _values(FAIR_SHARE, FAIR_SHARE_FIELDS, FairShareSettings())
    own[SetupKind.TEAM] |= {PARENT: None, **_values(LIMITS, TEAM_LIMIT_FIELDS, TeamLimits())}
    own[SetupKind.TEAM] |= _values(RULES, RULE_FIELDS, TeamRules())
    return own


def _part(row: models.Model, part: str, names: tuple[str, ...], without: Any) -> dict[str, Any]:
    """Return the fields of what may belong to a row, those without it where it has none."""
    try:
        found = getattr(row, part)
    except ObjectDoesNotExist:
        found = without
    return _values(part, names, found)


def _values(part: str, names: tuple[str, ...], row: Any) -> dict[str, Any]:
    return {f"{part}.{name}": getattr(row, name) for name in names}
