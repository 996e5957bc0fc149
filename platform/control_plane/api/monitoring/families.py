"""Which metrics are there, and what does each mean?

Names are Prometheus': units are written out, and what only grows ends in `_total`. Labels have few
values: pools, teams, and words of this code; no jobs and no people, of which there are ever more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_BY_TEAM: Final = ("pool", "team")
_OF_CLOSED_HOURS: Final = "Of hours that the accounts have closed."


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFamily:
    """A metric, with a series for each combination of its labels."""

    name: str
    meaning: str
    labels: tuple[str, ...] = ()

    @property
    def only_grows(self) -> bool:
        return self.name.endswith("_total")


MetricReading = tuple[MetricFamily, tuple[str, ...], float]
"""A family, the values of its labels, and what was read."""

JOBS: Final = MetricFamily(
    name="concertina_jobs",
    meaning="Jobs that have not ended, by their state.",
    labels=(*_BY_TEAM, "state"),
)
IDLE_JOBS: Final = MetricFamily(
    name="concertina_jobs_idle",
    meaning="Jobs that hold GPUs while none of their workers does anything.",
    labels=_BY_TEAM,
)
LONGEST_WAIT: Final = MetricFamily(
    name="concertina_queue_longest_wait_seconds",
    meaning="For how long the job that has waited longest is queued; 0: none is.",
    labels=_BY_TEAM,
)
JOBS_LEFT_OUT: Final = MetricFamily(
    name="concertina_jobs_left_out",
    meaning="Jobs that are left out of plans because the planner fails on their data.",
)
GPUS: Final = MetricFamily(
    name="concertina_gpus",
    meaning="GPUs of all nodes, whether they take new work or not.",
    labels=("pool",),
)
OPEN_GPUS: Final = MetricFamily(
    name="concertina_gpus_open",
    meaning="GPUs of nodes that take new work.",
    labels=("pool",),
)
IDLE_GPUS: Final = MetricFamily(
    name="concertina_gpus_idle", meaning="GPUs that no job holds.", labels=("pool",)
)
HELD_GPUS: Final = MetricFamily(
    name="concertina_gpus_held", meaning="GPUs that a team's jobs hold.", labels=_BY_TEAM
)
GUARANTEED_GPUS: Final = MetricFamily(
    name="concertina_gpus_guaranteed",
    meaning="GPUs that a team is guaranteed, without those of the teams below it.",
    labels=_BY_TEAM,
)
BORROWED_GPUS: Final = MetricFamily(
    name="concertina_gpus_borrowed",
    meaning="GPUs that a team holds beyond its guarantee.",
    labels=_BY_TEAM,
)
LENT_GPUS: Final = MetricFamily(
    name="concertina_gpus_lent",
    meaning="GPUs of a team's guarantee that others have borrowed.",
    labels=_BY_TEAM,
)
WAITED_FOR_GPUS: Final = MetricFamily(
    name="concertina_gpus_waited_for",
    meaning="GPUs that a team's waiting jobs ask for at least, as of the last tick.",
    labels=_BY_TEAM,
)
NODES: Final = MetricFamily(
    name="concertina_nodes",
    meaning="Nodes: open ones take new work, closed ones were cordoned, silent ones do not answer.",
    labels=("pool", "state"),
)
TICKS: Final = MetricFamily(
    name="concertina_ticks_total", meaning="Ticks of the control loop that looked at everything."
)
TICK_SECONDS: Final = MetricFamily(
    name="concertina_tick_seconds_total",
    meaning="Time that all ticks took, by their part.",
    labels=("part",),
)
LAST_TICK_SECONDS: Final = MetricFamily(
    name="concertina_last_tick_seconds",
    meaning="Time that the newest tick took, by its part.",
    labels=("part",),
)
LAST_TICK: Final = MetricFamily(
    name="concertina_last_tick_timestamp_seconds",
    meaning="When the newest tick looked, since 1970.",
)
CHANGES: Final = MetricFamily(
    name="concertina_decisions_total",
    meaning="Decisions that were carried out, by what they asked for.",
    labels=("action",),
)
ALARMS: Final = MetricFamily(
    name="concertina_plan_alarms_total",
    meaning="Ticks in which something was wrong with a plan.",
)
REFUSED_PLANS: Final = MetricFamily(
    name="concertina_plans_refused_total",
    meaning="Plans of a pool that were not applied, because they failed or broke a rule.",
)
UNPLANNED: Final = MetricFamily(
    name="concertina_pool_unplanned",
    meaning="1 while no plan is applied to the pool: no job starts there or changes its size.",
    labels=("pool",),
)
GPU_PRICE: Final = MetricFamily(
    name="concertina_gpu_price",
    meaning="What one more GPU would add to the pool, in the unit of its policy, by the newest"
    " plan that changed something.",
    labels=("pool", "policy"),
)
DELIVERIES: Final = MetricFamily(
    name="concertina_webhook_deliveries",
    meaning="Messages to webhooks that wait to be sent, or that nobody took for a day (dead).",
    labels=("state",),
)
OLDEST_DELIVERY: Final = MetricFamily(
    name="concertina_webhook_longest_wait_seconds",
    meaning="For how long the oldest message to a webhook waits to be sent; 0: none does.",
)
GPU_SECONDS: Final = MetricFamily(
    name="concertina_gpu_seconds_total",
    meaning="GPU time by what became of it: guaranteed and borrowed was held by jobs; together it"
    f" is all that there was. {_OF_CLOSED_HOURS} An empty team: promised to nobody.",
    labels=(*_BY_TEAM, "use"),
)
LENT_SECONDS: Final = MetricFamily(
    name="concertina_gpu_lent_seconds_total",
    meaning=f"GPU time of a team's guarantee that others borrowed. {_OF_CLOSED_HOURS}",
    labels=_BY_TEAM,
)
STARTING_SECONDS: Final = MetricFamily(
    name="concertina_gpu_starting_seconds_total",
    meaning=f"GPU time held by workers that did not train yet. {_OF_CLOSED_HOURS}",
    labels=_BY_TEAM,
)
STALLED_SECONDS: Final = MetricFamily(
    name="concertina_gpu_stalled_seconds_total",
    meaning=f"GPU time in which jobs stood still to change their size. {_OF_CLOSED_HOURS}",
    labels=_BY_TEAM,
)
LOST_SECONDS: Final = MetricFamily(
    name="concertina_gpu_lost_seconds_total",
    meaning=f"GPU time of training that was lost, and done again. {_OF_CLOSED_HOURS}",
    labels=_BY_TEAM,
)
LEDGER_CLOSED: Final = MetricFamily(
    name="concertina_ledger_closed_timestamp_seconds",
    meaning="Until when GPU time is accounted for, since 1970.",
)
LEDGER_GAPS: Final = MetricFamily(
    name="concertina_ledger_gaps",
    meaning="Hours of the last 40 days of which the accounts of GPU time do not know everything.",
)
LEDGER_UNSEEN: Final = MetricFamily(
    name="concertina_ledger_unseen_seconds",
    meaning="Time of the last 40 days in which no tick looked, as far as it is accounted for.",
)

FAMILIES: Final = tuple(one for one in globals().copy().values() if isinstance(one, MetricFamily))
