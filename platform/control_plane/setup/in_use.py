"""What cannot be taken away, and by whom is it used? A few statements, however much is asked about.

Jobs that have ended use their team and pool as well: who deletes a team with all that it has does
so at `/admin/`, where the page tells what goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from cluster.models import Node
from django.db.models import Count, F, QuerySet
from django.utils import timezone
from schedules.models import TeamSchedule
from storage.models import DataSnapshot, NamedModel
from tenancy.access.keys import tokens
from tenancy.errors import FieldFault
from tenancy.models import Membership, Secret, Token
from webhooks.models import Webhook

from control_plane.setup.changes import SetupAction, SetupChange, SetupFieldChange
from control_plane.setup.objects import POOL_OF, SetupKey, SetupKind, SetupObjects, path_of
from jobs.lifecycle import ACTIVE, JobState
from jobs.models import GpuClaim, Job, Worker

_MOST_NAMED: Final = 5
_OF_THE_MACHINE: Final = frozenset({POOL_OF, "host_url"})


def faults_of_use(
    current: SetupObjects, changes: Sequence[SetupChange], *, holds: bool = False
) -> Sequence[FieldFault]:
    """Return for each object that is to go, and for each node that is to move, who uses it.

    `holds`: nobody is given GPUs of these nodes until the end of the transaction.
    """
    gone = [one.key for one in changes if one.action is SetupAction.REMOVED]
    of_kind = {
        kind: {key.name for key in gone if key.kind is kind}
        for kind in (SetupKind.POOL, SetupKind.TEAM)
    }
    nodes = {one.key.name for one in changes if _needs_an_idle_node(one)}
    if holds and nodes:
        rows = Node.objects.select_for_update(no_key=True).filter(name__in=nodes)
        list(rows.order_by("pk").values_list("pk"))
    return [
        *_of_nodes(current, nodes),
        *_of_pools(of_kind[SetupKind.POOL]),
        *_of_teams(of_kind[SetupKind.TEAM]),
    ]


def busy_teams() -> Mapping[str, Collection[str]]:
    """Return by pool the teams with jobs there that have not ended."""
    live = Job.objects.filter(finished_at=None).order_by()
    found: dict[str, set[str]] = {}
    for pool, team in live.values_list("pool__name", "team__name").distinct():
        found.setdefault(pool, set()).add(team)
    return found


def _needs_an_idle_node(change: SetupChange) -> bool:
    """Tell whether what runs there would not be seen any more, or its GPUs given to others."""
    if change.key.kind is not SetupKind.NODE or change.action is SetupAction.CREATED:
        return False
    if change.action is SetupAction.REMOVED or change.named & _OF_THE_MACHINE:
        return True
    return any(_takes_gpus_away(one) for one in change.fields)


def _takes_gpus_away(change: SetupFieldChange) -> bool:
    """Tell whether a GPU goes, or is called by another index or name than who uses it knows."""
    if change.field == "gpus":
        return bool(change.after < change.before)
    if change.field == "gpu_uuids":
        known = len(change.before)
        return not known or bool(change.after[:known] != change.before)
    return False


def _of_nodes(current: SetupObjects, names: Collection[str]) -> Iterator[FieldFault]:
    if not names:
        return
    claims = GpuClaim.objects.filter(node__name__in=names).values_list(
        "node__name", "worker__job__team__name", "worker__job__name"
    )
    ending = Worker.objects.filter(
        node__name__in=names,
        job__state__in=[*ACTIVE, JobState.STOPPING],
        attempt=F("job__attempt"),
    ).values_list("node__name", "job__team__name", "job__name")
    users: dict[str, set[str]] = {}
    for node, team, job in (*claims.distinct(), *ending.distinct()):
        users.setdefault(node, set()).add(f"{team}/{job}")
    for node, jobs in sorted(users.items()):
        key = SetupKey(SetupKind.NODE, "", node)
        yield FieldFault(
            field=path_of(key, current[key]),
            problem=f"has GPUs that jobs use: {_some(jobs)}",
            remedy="Drain it first, and wait until they are free.",
        )


def _of_pools(names: Collection[str]) -> Iterator[FieldFault]:
    if not names:
        return
    for pool, count in _counted(Job.objects.filter(pool__name__in=names), "pool__name").items():
        yield FieldFault(
            field=f"pools.{pool}",
            problem=f"has {_number(count, 'job')}",
            remedy="Delete them first, also those that have ended.",
        )


def _of_teams(names: Collection[str]) -> Iterator[FieldFault]:
    if not names:
        return
    found: dict[str, list[str]] = {}
    valid = tokens.is_valid(timezone.now())
    for word, rows in (
        ("job", Job.objects.all()),
        ("member", Membership.objects.all()),
        ("valid token", Token.objects.filter(valid)),
        ("model", NamedModel.objects.all()),
        ("secret", Secret.objects.all()),
        ("webhook", Webhook.objects.all()),
        ("schedule", TeamSchedule.objects.all()),
        ("uploaded folder", DataSnapshot.objects.all()),
    ):
        of_teams: QuerySet[Any] = rows.filter(team__name__in=names)
        for team, count in _counted(of_teams, "team__name").items():
            found.setdefault(team, []).append(_number(count, word))
    for team, uses in sorted(found.items()):
        yield FieldFault(
            field=f"teams.{team}",
            problem=f"has {', '.join(uses)}",
            remedy="Remove these first, or delete the team with all it has at /admin/.",
        )


def _counted(rows: QuerySet[Any, Any], name: str) -> Mapping[str, int]:
    return dict(rows.order_by().values_list(name).annotate(Count("pk")))


def _number(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"


def _some(names: Collection[str]) -> str:
    shown = sorted(names)[:_MOST_NAMED]
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
