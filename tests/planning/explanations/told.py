"""What is said in which state of a cluster: a sentence -> (state, words)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autoscaler.planning.snapshot.cluster_state import ChangeKind, PoolChange
from autoscaler.planning.snapshot.vocabulary import Preemptibility
from tests.planning.builders import (
    HARDLY_FASTER,
    NOW,
    batch,
    cluster,
    measured,
    running,
    waiting,
)

if TYPE_CHECKING:
    from autoscaler.planning.snapshot.cluster_state import ClusterState


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    state: ClusterState
    to_admins: dict[str, str]
    to_vision: dict[str, str] = field(default_factory=dict)  # where it differs


TOLD: dict[str, Told] = {
    "who cannot be measured is told that his speed is guessed": Told(
        state=cluster(
            running("a", 2, max_workers=3, is_measurable=False, measurements=()),
            running("b", 2),
        ),
        to_admins={
            "a": "Keeps 2 workers: in restart mode nothing reports its speed, so it is guessed.",
        },
    ),
    "who grows without being measured is told so": Told(
        state=cluster(running("a", 2, max_workers=3, is_measurable=False, measurements=())),
        to_admins={
            "a": "Grown from 2 to 3 workers: in restart mode nothing reports its speed, "
            "so it is guessed.",
        },
    ),
    "whose workers would each do the same is told why it stays as it is": Told(
        state=cluster(
            running(
                "a",
                1,
                max_workers=3,
                is_measurable=False,
                shares_work=False,
                can_rescale=False,
                can_pause=True,
                measurements=(),
            ),
        ),
        to_admins={
            "a": "Keeps 1 worker: its script neither registers nor forms a process group, so each "
            "further worker would do the same work once more; if they do share it, say "
            "`mode: restart`.",
        },
    ),
    "a borrower is told whose guarantee it gives way to": Told(
        state=cluster(running("a", 4), waiting("b", "language", min_workers=2)),
        to_admins={
            "a": "Shrunk from 4 to 2 workers: team language is owed 2 of its 2 guaranteed GPUs "
            "for b.",
            "b": "Starts on 2 workers (2 GPUs, which a gives back: team language is guaranteed 2) "
            "with a global batch of 64. Grows once its speed has been measured there.",
        },
        to_vision={
            "a": "Shrunk from 4 to 2 workers: team language is owed 2 of its 2 guaranteed GPUs "
            "for one of its jobs.",
        },
    ),
    "an owner is told who gives its guarantee back": Told(
        state=cluster(running("a", 4, "language"), waiting("b", min_workers=2)),
        to_admins={
            "b": "Starts on 2 workers (2 GPUs, which a gives back: team vision is guaranteed 2) "
            "with a global batch of 64. Grows once its speed has been measured there.",
        },
        to_vision={
            "b": "Starts on 2 workers (2 GPUs, which a job of team language gives back: team "
            "vision is guaranteed 2) with a global batch of 64. Grows once its speed has been "
            "measured there.",
        },
    ),
    "a borrower that cannot shrink far enough is told why it is paused": Told(
        state=cluster(
            running("a", 2, min_workers=2),
            running("b", 2, min_workers=2, priority=10),
            waiting("c", "language", min_workers=2),
        ),
        to_admins={
            "b": "Paused after a checkpoint, giving back 2 GPUs it borrowed: team language is "
            "owed 2 of its 2 guaranteed GPUs for c.",
        },
        to_vision={
            "b": "Paused after a checkpoint, giving back 2 GPUs it borrowed: team language is "
            "owed 2 of its 2 guaranteed GPUs for one of its jobs.",
        },
    ),
    "a job that lost its place with a node is told what is left": Told(
        state=cluster(running("a", 1, min_workers=3), nodes=(2,)),
        to_admins={
            "a": "Paused after a checkpoint: it needs 3 GPUs at least, and pool default has 2 "
            "left.",
        },
    ),
    "a team at its limit is told what would help": Told(
        state=cluster(
            running("a", 2, min_workers=2, max_workers=2),
            waiting("b"),
            quotas={"vision": (1, 2)},
        ),
        to_admins={
            "a": "Keeps 2 workers, the most it may use.",
            "b": "Waits for 1 GPU: team vision uses 2 of its limit of 2 GPUs. With a limit of 3 "
            "GPUs for team vision it would start now.",
        },
    ),
    "a job larger than the pool is told how far to lower its minimum": Told(
        state=cluster(waiting("a", min_workers=5, max_workers=8)),
        to_admins={
            "a": "Cannot start: its smallest size needs 5 GPUs, pool default has 4. Lower "
            "min_workers to 4.",
        },
    ),
    "a job larger than its team's limit is told both ways out": Told(
        state=cluster(waiting("a", min_workers=3), quotas={"vision": (1, 2)}),
        to_admins={
            "a": "Cannot start: its smallest size needs 3 GPUs, the limit of team vision is 2. "
            "Lower min_workers to 2, or have the limit raised to 3.",
        },
    ),
    "a job that grows is told what ended, what it brings and what it costs": Told(
        state=cluster(
            running("a", 2, rescales=3),
            changes=(
                PoolChange(
                    kind=ChangeKind.JOB_FINISHED, pool="default", name="old", team="language"
                ),
            ),
        ),
        to_admins={
            "a": "Grown from 2 to 4 workers: old finished; 76 % faster, from 192 to 337 "
            "samples/s, for a stall of about 0.5 s.",
        },
        to_vision={
            "a": "Grown from 2 to 4 workers: a job of team language finished; 76 % faster, from "
            "192 to 337 samples/s, for a stall of about 0.5 s.",
        },
    ),
    "a large job that has waited long holds up a small one of another team": Told(
        state=cluster(
            running("a", 3, min_workers=3, max_workers=3),
            waiting("big", "language", min_workers=4, submitted_at=NOW - 400),
            waiting("small", submitted_at=NOW - 5, preemptibility=Preemptibility.NON_PREEMPTIBLE),
            quotas={"vision": (0, None), "language": (0, None)},
        ),
        to_admins={
            "big": "Waits for 4 GPUs, reserved for it since 1970-01-01 02:45 UTC (1 of them saved "
            "up so far, all expected by 1970-01-01 02:54 UTC); vision holds 3 of 4 (3 borrowed). "
            "Next in the queue. With min_workers 1 it would start now.",
            "small": "Waits for 1 GPU: big comes first, with 4 GPUs reserved for it since "
            "1970-01-01 02:45 UTC (1 of them saved up so far, all expected by 1970-01-01 02:54 "
            "UTC). Team vision uses 3 GPUs and has a claim to 0. As a preemptible job it would "
            "start now.",
        },
        to_vision={
            "small": "Waits for 1 GPU: a job of team language comes first, with 4 GPUs reserved "
            "for it since 1970-01-01 02:45 UTC (1 of them saved up so far, all expected by "
            "1970-01-01 02:54 UTC). Team vision uses 3 GPUs and has a claim to 0. As a preemptible "
            "job it would start now.",
        },
    ),
    "a guest is told for whom it gives way, and the large job who does": Told(
        state=cluster(
            running("guest", 1, max_workers=1, submitted_at=NOW - 50, started_at=NOW - 50),
            waiting("big", "language", min_workers=4, submitted_at=NOW - 400),
            quotas={"vision": (0, None), "language": (0, None)},
        ),
        to_admins={
            "guest": "Paused after a checkpoint: it used 1 GPU as a guest, and big, for which 4 "
            "GPUs have been reserved since 1970-01-01 02:45 UTC, now has them all.",
            "big": "Starts on 4 workers (4 GPUs, saved up for it; guest gives way) with a global "
            "batch of 64. Grows once its speed has been measured there.",
        },
        to_vision={
            "guest": "Paused after a checkpoint: it used 1 GPU as a guest, and a job of team "
            "language, for which 4 GPUs have been reserved since 1970-01-01 02:45 UTC, now has "
            "them all.",
        },
    ),
    "a job changed a moment ago stays": Told(
        state=cluster(running("a", 1, last_rescaled_at=NOW - 5, min_interval_seconds=60)),
        to_admins={"a": "Keeps 1 worker: changed 5 s ago, and its min_interval is 60 s."},
    ),
    "a job that stays is told what one more GPU would bring, and who has it": Told(
        state=cluster(
            running("a", 2, measurements=HARDLY_FASTER),
            running("b", 2, "language"),
        ),
        to_admins={
            "a": "Keeps 2 workers: a 3rd worker would speed it up by 17 %; the same GPU gives b "
            "88 %."
        },
        to_vision={
            "a": "Keeps 2 workers: a 3rd worker would speed it up by 17 %; the same GPU gives a "
            "job of team language 88 %."
        },
    ),
    "a resumed job that starts beyond the guarantee is told that it borrows": Told(
        state=cluster(waiting("a", measurements=measured((1, 100), (2, 190), (4, 360)))),
        to_admins={
            "a": "Starts on 4 workers (4 GPUs, the 2 GPUs guaranteed to team vision and borrowed "
            "ones) with a global batch of 64."
        },
    ),
    "a job of mode fixed is told that nothing changes it": Told(
        state=cluster(running("a", 2, can_rescale=False, can_pause=True)),
        to_admins={"a": "Keeps 2 workers: a job of mode fixed never changes its size."},
    ),
    "a job of which only the batch changes is told from what to what": Told(
        state=cluster(
            running(
                "a",
                1,
                max_workers=1,
                batch=batch(64, maximum=1024),
                measurements=(*measured((1, 100)), *measured((1, 52), batch_size=32)),
            )
        ),
        to_admins={},
    ),
    "pairs of GPUs are missing though two single ones are free": Told(
        state=cluster(
            running("a", 1, on=(("n1", 1),), max_workers=1, can_rescale=False),
            running("b", 1, on=(("n2", 1),), max_workers=1, can_rescale=False),
            waiting("c", gpus_per_worker=2),
            nodes=(2, 2),
        ),
        to_admins={
            "c": "Waits for 1 worker of 2 GPUs, each on one node; free: n1 1, n2 1 (2 in all). "
            "Starts as soon as 2 GPUs more are free together on one node.",
        },
    ),
    "a job makes room for a pair of GPUs": Told(
        state=cluster(
            running("a", 1, on=(("n1", 1),), max_workers=1),
            running("b", 1, on=(("n2", 1),), max_workers=1),
            waiting("c", gpus_per_worker=2),
            nodes=(2, 2),
        ),
        to_admins={
            "a": "Moved to n2: room for c, whose start brings 1959 GPU-seconds for 0.5 of "
            "standing still.",
        },
    ),
    "a non-preemptible job may not borrow": Told(
        state=cluster(
            waiting("a", min_workers=3, preemptibility=Preemptibility.NON_PREEMPTIBLE),
        ),
        to_admins={
            "a": "Waits for 3 GPUs: it is non-preemptible and may not borrow what others are "
            "guaranteed; team vision uses 0 of its 2 GPUs. With min_workers 2 it would start now.",
        },
    ),
    "a non-preemptible job of one worker may not borrow either": Told(
        state=cluster(
            waiting("a", preemptibility=Preemptibility.NON_PREEMPTIBLE),
            quotas={"vision": (0, None), "language": (4, None)},
        ),
        to_admins={
            "a": "Waits for 1 GPU: it is non-preemptible and may not borrow what others are "
            "guaranteed; team vision is guaranteed none. As a preemptible job it would start now.",
        },
    ),
    "a job behind others in a full pool is told how many GPUs they all need": Told(
        state=cluster(
            running("a", 4, min_workers=4),
            waiting("b", priority=20),
            waiting("c", priority=10),
        ),
        to_admins={
            "b": "Waits for 1 GPU: none is free, and the running jobs are at their smallest "
            "sizes; vision holds 4 of 4 (2 borrowed). Next in the queue. Starts as soon as 1 more "
            "GPU is free.",
            "c": "Waits for 1 GPU: none is free, and the running jobs are at their smallest "
            "sizes; vision holds 4 of 4 (2 borrowed). Number 2 in the queue. Starts as soon as 2 "
            "more GPUs are free.",
        },
    ),
    "an owner whose GPUs are on their way waits for nothing else": Told(
        state=cluster(
            running("a", 3, min_workers=2, can_rescale=False),
            waiting("b", "language", min_workers=2, priority=90),
            waiting("c", submitted_at=NOW - 500),
        ),
        to_admins={
            "b": "Waits for 2 GPUs of its team's guarantee: 1 GPU free, the rest is being given "
            "back. Nothing needs to be done.",
            "c": "Waits for 1 GPU: b is owed what is free. With priority 51 it would start now.",
        },
        to_vision={
            "c": "Waits for 1 GPU: a job of team language is owed what is free. With priority 51 "
            "it would start now.",
        },
    ),
}
