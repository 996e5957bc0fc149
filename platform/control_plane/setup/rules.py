"""Which set-ups cannot be? Pure: what objects say of one another, as it would be after a change."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final

from tenancy.errors import FieldFault
from tenancy.quota_rules import (
    PromiseTree,
    Setting,
    problem_of_second_team,
    problems_of_all,
    trust_needed,
)

from autoscaler.job_network import JobNetwork
from control_plane.setup.changes import SetupAction, SetupChange
from control_plane.setup.objects import (
    MOST_OBJECTS,
    POOL_OF,
    SetupKey,
    SetupKind,
    SetupObjects,
    needed_by,
    path_of,
)
from jobs.spec.rules.rule_set import MOST_TEMPLATES

TRUST: Final = "teams_trust_each_other"
MOST_LEVELS: Final = 50  # of teams above one another; guessed: companies have fewer


def faults_of(
    objects: SetupObjects,
    changes: Sequence[SetupChange],
    named_twice: Iterable[str] = (),
    followed: Collection[str] = (),
    *,
    why_for_one_team: str = "",
    busy_teams: Mapping[str, Collection[str]] | None = None,
) -> Sequence[FieldFault]:
    """Return what is wrong with a set-up to which these changes have led.

    Args:
        objects: as they would be.
        changes: that lead there.
        named_twice: places.
        followed: names of nodes that come and go with a cluster.
        why_for_one_team: why pools are for one team where nobody says that several trust each other
            on them; empty: they are for all.
        busy_teams: by pool, those with jobs there that have not ended.
    """
    found = [
        *(_fault(place, "is there twice", "Name each once.") for place in named_twice),
        *_too_many(objects, changes),
        *_of_nothing(objects),
        *_without_gpus(objects, changes),
        *_of_followed_nodes(objects, changes, followed),
        *_of_teams(objects),
    ]
    if why_for_one_team:
        found += _of_second_teams(objects, changes, why_for_one_team, busy_teams or {})
    return found or list(_of_pools(objects, changes))


def _too_many(objects: SetupObjects, changes: Sequence[SetupChange]) -> Iterator[FieldFault]:
    is_more = any(one.action is SetupAction.CREATED for one in changes)
    if is_more and len(objects) > MOST_OBJECTS:
        yield _fault("", f"has {len(objects)} objects", f"A set-up has at most {MOST_OBJECTS}.")
    templates = Counter(key.of for key in objects if key.kind is SetupKind.TEMPLATE)
    for team, number in sorted(templates.items()):
        if is_more and number > MOST_TEMPLATES:
            remedy = f"A team has at most {MOST_TEMPLATES}."
            yield _fault(f"teams.{team}.templates", f"are {number}", remedy)


def _of_nothing(objects: SetupObjects) -> Iterator[FieldFault]:
    for key, fields in objects.items():
        for needed in needed_by(key, fields):
            if needed not in objects:
                problem = f"is of {needed}, which is not there or is to be removed"
                yield _fault(path_of(key, fields), problem, "Name one that is there.")


def _without_gpus(objects: SetupObjects, changes: Sequence[SetupChange]) -> Iterator[FieldFault]:
    for change in changes:
        if change.key.kind is not SetupKind.NODE or change.action is SetupAction.REMOVED:
            continue
        fields = objects[change.key]
        if fields["gpus"] is None:
            place = path_of(change.key, fields)
            yield _fault(f"{place}.gpus", "is missing", "Say how many GPUs the new node has.")


def _of_followed_nodes(
    objects: SetupObjects, changes: Sequence[SetupChange], followed: Collection[str]
) -> Iterator[FieldFault]:
    """Find nodes that are for the cluster to bring, or whose names it has given away."""
    for change in changes:
        is_new = change.action is SetupAction.CREATED
        is_moved = change.action is SetupAction.CHANGED and POOL_OF in change.named
        if change.key.kind is not SetupKind.NODE or not (is_new or is_moved):
            continue
        fields = objects[change.key]
        place = path_of(change.key, fields)
        if objects.get(SetupKey(SetupKind.POOL, "", fields[POOL_OF]), {}).get("ray_selector"):
            problem = "is of a pool that follows a cluster, whose nodes come and go with it"
            yield _fault(place, problem, "Start that machine with the pool's labels instead.")
        elif change.key.name in followed:
            problem = "has the name of a node that a pool has of its cluster"
            yield _fault(place, problem, "Use another name.")


def _of_teams(objects: SetupObjects) -> Iterator[FieldFault]:
    teams = {key.name: fields for key, fields in objects.items() if key.kind is SetupKind.TEAM}
    for name, fields in teams.items():
        parent = fields["parent"]
        if parent is not None and parent not in teams:
            problem = f"names team {parent}, which is not there or is to be removed"
            yield _fault(f"teams.{name}.parent", problem, "Name another, or null.")
        if fields["network"] == JobNetwork.LISTED and not fields["reachable"]:
            yield _fault(
                f"teams.{name}.reachable", "is empty", "List a host, or let network be isolated."
            )
    parents = {name: fields["parent"] for name, fields in teams.items()}
    for name in sorted(parents):
        if _levels_above(name, parents) > MOST_LEVELS:
            problem = f"puts the team below itself, or more than {MOST_LEVELS} levels deep"
            yield _fault(f"teams.{name}.parent", problem, "Name another, or null.")
            return


def _levels_above(name: str, parents: Mapping[str, str | None]) -> int:
    """Return how many teams are above one; in a circle, one more than there may be."""
    levels, above = 0, parents.get(name)
    while above is not None and levels <= MOST_LEVELS:
        levels, above = levels + 1, parents.get(above)
    return levels


def _of_pools(objects: SetupObjects, changes: Sequence[SetupChange]) -> Iterator[FieldFault]:
    """Find guarantees that do not go together, in pools where something of them has changed.

    A pool whose nodes were lost has fewer GPUs than were promised: that stands against no other
    change.
    """
    pools = {key.name for key in objects if key.kind is SetupKind.POOL}
    gpus: Counter[str] = Counter()
    settings: defaultdict[str, dict[str, Setting]] = defaultdict(dict)
    for key, fields in objects.items():
        if key.kind is SetupKind.NODE:
            gpus[fields[POOL_OF]] += fields["gpus"]
        elif key.kind is SetupKind.QUOTA:
            settings[key.name][key.of] = Setting(
                guaranteed=fields["guaranteed_gpus"],
                limit=fields["limit_gpus"],
                lending_limit=fields["lending_limit_gpus"],
            )
    parents = {
        key.name: fields["parent"] for key, fields in objects.items() if key.kind is SetupKind.TEAM
    }
    for pool in sorted(_touched(objects, changes) & pools):
        tree = PromiseTree(settings[pool], parents)
        for team, problem in problems_of_all(tree):
            place = f"{path_of(SetupKey(SetupKind.QUOTA, team, pool))}.{problem.field}"
            yield FieldFault(field=place, problem="does not fit", remedy=problem.message)
        follows = objects[SetupKey(SetupKind.POOL, "", pool)].get("ray_selector")
        if tree.total > gpus[pool] and not follows:
            problem_there = f"has {gpus[pool]} GPUs, and teams are guaranteed {tree.total}"
            yield _fault(f"pools.{pool}", problem_there, "Lower their guarantees, or add nodes.")


def _of_second_teams(
    objects: SetupObjects,
    changes: Sequence[SetupChange],
    why: str,
    busy: Mapping[str, Collection[str]],
) -> Iterator[FieldFault]:
    """Find pools for one team that would get a second one; what was so before stays."""
    teams: defaultdict[str, set[str]] = defaultdict(set)
    for pool, those in busy.items():
        teams[pool].update(those)
    for key in objects:
        if key.kind is SetupKind.QUOTA:
            teams[key.name].add(key.of)
    for change in changes:
        key = change.key
        pool = key.name if key.kind in {SetupKind.QUOTA, SetupKind.POOL} else ""
        fields = objects.get(SetupKey(SetupKind.POOL, "", pool), {})
        if len(teams[pool]) <= 1 or key not in objects or fields.get(TRUST):
            continue
        if key.kind is SetupKind.QUOTA and change.action is SetupAction.CREATED:
            found = problem_of_second_team(key.of, teams[pool], why_for_one_team=why)
            remedy = found.message if found else ""
            yield _fault(path_of(key), "is of a second team", remedy)
        elif change.action is SetupAction.CHANGED and TRUST in change.named:
            remedy = trust_needed(sorted(teams[pool]), why)
            yield _fault(f"{path_of(key)}.{TRUST}", "is needed", remedy)


def _touched(objects: SetupObjects, changes: Sequence[SetupChange]) -> set[str]:
    """Return the pools of which GPUs, quotas or the tree of teams that has them changed."""
    found: set[str] = set()
    for change in changes:
        if change.key.kind is SetupKind.TEAM and "parent" in change.named:
            return {key.name for key in objects if key.kind is SetupKind.POOL}
        if change.key.kind is SetupKind.QUOTA:
            found.add(change.key.name)
        if change.key.kind is SetupKind.NODE:
            found |= {
                pool
                for one in change.fields
                if one.field == POOL_OF
                for pool in (one.before, one.after)
                if pool is not None
            }
            if change.key in objects:
                found.add(objects[change.key][POOL_OF])
    return found


def _fault(field: str, problem: str, remedy: str) -> FieldFault:
    return FieldFault(field=field, problem=problem, remedy=remedy)
