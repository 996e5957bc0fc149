"""What may happen to a pool: jobs come, change their sizes, fail; GPUs and quotas come and go."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import strategies as st

from autoscaler.gpu_accounts.arithmetic.history import HeldGpus, RecordedCapacity
from autoscaler.gpu_accounts.arithmetic.promises import PastQuota

SINCE = 1_000
UNTIL = 1_060
_PARENTS = {"root": "", "vision": "root", "language": "root", "audio": ""}
_moments = st.integers(SINCE - 30, UNTIL + 30)
_gpus = st.integers(0, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolHistory:
    """Recordings of one pool around an hour of 60 microseconds."""

    held: list[HeldGpus]
    quotas: list[PastQuota]
    capacities: list[RecordedCapacity]


@st.composite
def spans(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Stretches of time one after the other, perhaps with holes between, perhaps empty."""
    moments = sorted(draw(st.lists(_moments, max_size=8)))
    return [pair for pair in pairwise(moments) if draw(st.booleans())]


@st.composite
def held_gpus(draw: st.DrawFn, *, job: int, overlaps: bool) -> list[HeldGpus]:
    """What one job held; where ends overlap, what held before goes on for a while."""
    team, priority = draw(st.sampled_from(sorted(_PARENTS))), draw(st.integers(0, 2))
    return [
        HeldGpus(
            since=since,
            until=until + (draw(st.integers(0, 5)) if overlaps else 0),
            team=team,
            job=job,
            gpus=draw(_gpus),
            starting_gpus=draw(_gpus),
            priority=priority,
            stall=draw(st.integers(0, 80)),
            lost=draw(st.integers(0, 80)),
        )
        for since, until in draw(spans())
    ]


@st.composite
def histories(draw: st.DrawFn, *, overlaps: bool = True) -> PoolHistory:
    """Anything, also what contradicts itself: more held, or promised, than there is."""
    jobs = [draw(held_gpus(job=job, overlaps=overlaps)) for job in range(draw(st.integers(0, 6)))]
    return PoolHistory(
        held=[one for of_job in jobs for one in of_job],
        quotas=[
            PastQuota(
                since=since,
                until=until,
                team=team,
                parent=parent,
                guaranteed=draw(_gpus),
                limit=draw(st.none() | _gpus),
                lending_limit=draw(st.none() | _gpus),
            )
            for team, parent in _PARENTS.items()
            for since, until in draw(spans())
        ],
        capacities=[
            RecordedCapacity(since=since, until=until, gpus=draw(st.integers(0, 20)))
            for since, until in draw(spans())
        ],
    )
