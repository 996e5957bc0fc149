"""How long did changes take lately, between which nodes? Of live jobs' own, and of all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from statistics import median, median_low
from typing import Final

from django.db.models import Avg, F, QuerySet
from django.db.models.functions import Coalesce, Greatest

from autoscaler.control_loop.observe.for_planner.pool_view import all_reduce
from autoscaler.planning.speed.change_time import ChangingJob, ratio_of
from jobs.job_mode import JobMode
from jobs.models import Generation, Worker

_LOOKED_AT: Final = 200  # the newest changes of all jobs; guessed: bounded in any cluster
_SEARCHED: Final = 2000  # generations: starts and losses, among which they are
_NODES: Final = 8  # of one change: the first of more stand for all
_TEAMS: Final = 2  # so many have to say it before it is believed of another

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChange:
    """How far the first estimate of a change was off, and which nodes it was made between."""

    team_id: int
    is_hot: bool
    pairs: frozenset[Pair]
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeTimes:
    """What changes took, where there were any."""

    own_seconds: Mapping[str, float] = field(default_factory=dict)  # on average, by job id
    lately: tuple[PastChange, ...] = ()
    _ratios: dict[tuple[frozenset[str], bool, int], float | None] = field(default_factory=dict)

    @classmethod
    def of(cls, job_ids: Collection[str]) -> ChangeTimes:
        """A few bounded queries."""
        own = _changes().filter(job__in=job_ids).values_list("job").annotate(Avg("took")).order_by()
        return cls(own_seconds=dict(own), lately=tuple(_lately()))

    def ratio(self, nodes: frozenset[str], *, is_hot: bool, team_id: int) -> float | None:
        """Return how far first estimates were off between these nodes; None: nobody can say.

        The team's own changes tell it or, without any, those of two others at least: the lower of
        what is usual among them. Jobs report what changes took, and no team's word alone counts.
        """
        key = (nodes, is_hot, team_id)
        if key not in self._ratios:
            self._ratios[key] = self._ratio(*key) if self.lately else None
        return self._ratios[key]

    def _ratio(self, nodes: frozenset[str], is_hot: bool, team_id: int) -> float | None:  # noqa: FBT001 - asked by place
        pairs = pairs_of(nodes)
        by_team: dict[int, list[float]] = {}
        for one in self.lately:
            if one.is_hot == is_hot and not one.pairs.isdisjoint(pairs):
                by_team.setdefault(one.team_id, []).append(one.ratio)
        if team_id in by_team:
            return median(by_team[team_id])
        return median_low(map(median, by_team.values())) if len(by_team) >= _TEAMS else None


def pairs_of(nodes: Iterable[str]) -> frozenset[Pair]:
    """Every two of them; one node alone is a pair with itself."""
    known = sorted(set(nodes))[:_NODES]
    if len(known) == 1:
        return frozenset(((known[0], known[0]),))
    return frozenset(combinations(known, 2))


def _changes() -> QuerySet[Generation]:
    """Those that were decided. Of scripts that report nothing it counts what their logs tell."""
    in_logs = F("restart_seconds") + Coalesce(F("repeated_seconds"), 0.0)
    took = Greatest(F("stall_seconds"), Coalesce(in_logs, 0.0))
    return Generation.objects.filter(stall_seconds__gt=0, lost_worker_ids=[]).annotate(took=took)


def _lately() -> Iterable[PastChange]:
    newest = _newest()
    ids = {worker_id for one in newest for worker_id in one.worker_ids}
    workers = Worker.objects.filter(id__in=ids, node__isnull=False)
    nodes = dict(workers.values_list("id", "node__name"))
    for one in newest:
        on = {nodes[worker_id] for worker_id in one.worker_ids if worker_id in nodes}
        if on and (step := _step_seconds(one)) is not None:
            is_hot = one.job.mode != JobMode.RESTART
            yield PastChange(
                team_id=one.job.team_id,
                is_hot=is_hot,
                pairs=pairs_of(on),
                ratio=ratio_of(
                    ChangingJob(
                        model_bytes=one.job.model_bytes,
                        step_seconds=step,
                        is_hot=is_hot,
                        crosses_nodes=len(on) > 1,
                        all_reduce=all_reduce(one.job.pool),
                    ),
                    one.took,  # type: ignore[attr-defined]  # annotated above
                ),
            )


def _newest() -> list[Generation]:
    """Read no more jobs than are wanted: this is read at each tick."""
    last = Generation.objects.order_by("-id").values_list("id", flat=True).first() or 0
    among = _changes().filter(id__gt=last - _SEARCHED).select_related("job__pool")
    columns = ("team_id", "mode", "model_bytes", "samples_per_second", "pool__all_reduce")
    needed = among.only(
        "worker_ids", "global_batch_size", *(f"job__{column}" for column in columns)
    )
    return list(needed.order_by("-id")[:_LOOKED_AT])


def _step_seconds(one: Generation) -> float | None:
    """Return the time of a step as the job trains now; None: it does not say how fast."""
    speed = one.job.samples_per_second
    return one.global_batch_size / speed if speed > 0 else None
