"""What does each tick write down of what teams are owed? What of it is missing, and why.

It rests on what `recording` has just written of guarantees and of what is held, in the same
transaction. One statement reads, for all teams; another one compares and writes, if anything is
different: at most one row of each team and pool holds now.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from django.db import connection

from autoscaler.gpu_accounts.arithmetic.owed import WaitingJob, owed
from autoscaler.gpu_accounts.arithmetic.shortfall_causes import cause_of
from autoscaler.gpu_accounts.models import OwedSpan
from autoscaler.gpu_accounts.recording import statement_for_changes
from autoscaler.job_vocabulary import JobReason
from autoscaler.planning.snapshot.cluster_state import TeamQuota
from autoscaler.planning.teams.team_tree import TeamTree

_MOST_POOLS: Final = 64  # guessed; more are reckoned anew in each tick
_Quota = tuple[str, str, int, int | None]  # team, parent, guarantee, limit
_STANDINGS: Final = """
    SELECT pool, team, promised.parent, coalesce(promised.guaranteed_gpus, 0),
        promised.limit_gpus, coalesce(held.gpus, 0), known.guaranteed_gpus, known.missing
    FROM (SELECT * FROM gpu_accounts_promisespan WHERE until IS NULL) AS promised
    FULL JOIN (
        SELECT account.pool, account.team, sum(span.gpus) AS gpus
        FROM gpu_accounts_heldspan AS span
        JOIN gpu_accounts_accountedjob AS account ON account.id = span.job_id
        WHERE span.until IS NULL GROUP BY account.pool, account.team
    ) AS held USING (pool, team)
    FULL JOIN (SELECT * FROM gpu_accounts_owedspan WHERE until IS NULL) AS known USING (pool, team)
"""
_RECORD: Final = statement_for_changes(
    OwedSpan,
    """
    SELECT * FROM jsonb_to_recordset(%(seen)s::jsonb)
        AS seen (pool text, team text, guaranteed_gpus int, missing jsonb)
    """,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobLeftWaiting:
    """A job that wants GPUs and has none. `reason` None: nothing was decided about it."""

    job: str
    pool: str
    team: str
    gpus: int
    reason: JobReason | None
    starts: bool = False  # so it was decided


@dataclass(frozen=True, slots=True, kw_only=True)
class _Standing:
    guaranteed: int
    held: int
    promised_in_all: int


def record_owed(
    waiting: Sequence[JobLeftWaiting], open_gpus: Mapping[str, int], at: datetime
) -> None:
    """Write down what is different; `waiting` come in their order, `open_gpus` are by pool."""
    with connection.cursor() as cursor:
        cursor.execute(_STANDINGS)
        rows = cursor.fetchall()
        former = {
            (pool, team): (guaranteed, _read(missing))
            for pool, team, *_, guaranteed, missing in rows
            if guaranteed is not None
        }
        now = dict(_now(_standings(rows), waiting, open_gpus))
        if now == former:
            return
        seen = [
            {"pool": pool, "team": team, "guaranteed_gpus": guaranteed, "missing": missing}
            for (pool, team), (guaranteed, missing) in now.items()
        ]
        cursor.execute(_RECORD, {"at": at, "seen": json.dumps(seen)})


def _now(
    standings: Mapping[tuple[str, str], _Standing],
    waiting: Iterable[JobLeftWaiting],
    open_gpus: Mapping[str, int],
) -> Iterator[tuple[tuple[str, str], tuple[int, Any]]]:
    """Yield the guarantee of each team that has work for it, and what of it is missing."""
    jobs: defaultdict[tuple[str, str], list[JobLeftWaiting]] = defaultdict(list)
    for one in waiting:
        jobs[one.pool, one.team].append(one)
    for (pool, team), standing in standings.items():
        because = [
            WaitingJob(
                job=one.job,
                gpus=one.gpus,
                cause=cause_of(
                    one.reason,
                    starts=one.starts,
                    open_gpus=open_gpus.get(pool, 0),
                    promised=standing.promised_in_all,
                ),
            )
            for one in jobs[pool, team]
        ]
        found = owed(standing.guaranteed, standing.held, because)
        if found.gpus:
            missing = {
                cause: {"gpus": one.gpus, "jobs": list(one.jobs)}
                for cause, one in found.missing.items()
            }
            yield (pool, team), (standing.guaranteed, missing)


def _standings(rows: Iterable[Sequence[Any]]) -> dict[tuple[str, str], _Standing]:
    """Return how each team with a guarantee for its own jobs stands, as accounts reckon it."""
    quotas: defaultdict[str, list[_Quota]] = defaultdict(list)
    held: dict[tuple[str, str], int] = {}
    for pool, team, parent, guaranteed, limit, gpus, *_ in rows:
        held[pool, team] = int(gpus)
        if parent is not None:
            quotas[pool].append((team, parent, guaranteed, limit))
    found: dict[tuple[str, str], _Standing] = {}
    for pool, of_pool in quotas.items():
        promised = _own_guarantees(frozenset(of_pool))
        in_all = sum(promised.values())
        for team, guaranteed in promised.items():
            found[pool, team] = _Standing(
                guaranteed=guaranteed, held=held[pool, team], promised_in_all=in_all
            )
    return found


@lru_cache(maxsize=_MOST_POOLS)
def _own_guarantees(quotas: frozenset[_Quota]) -> Mapping[str, int]:
    """Return what each team of a pool is guaranteed for its own jobs; quotas change rarely."""
    tree = TeamTree.of(
        TeamQuota(
            team=team, pool="", guaranteed_gpus=guaranteed, limit_gpus=limit, parent=parent or None
        )
        for team, parent, guaranteed, limit in quotas
    )
    own = {team: tree.nodes[team].own_guaranteed for team, *_ in quotas}
    return {team: gpus for team, gpus in own.items() if gpus}


def _read(missing: Any) -> Any:
    """Return what is stored as JSON, which a plain cursor may hand out as text."""
    return json.loads(missing) if isinstance(missing, str) else missing
