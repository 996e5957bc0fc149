"""What people are warned of, and what follows, as a map: a sentence -> (job, what is done)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from cluster.worker_host import Failing

from autoscaler.reconciling.instructions import Tell
from autoscaler.reconciling.limits import LIMITS
from autoscaler.reconciling.questions import (
    KillsForMemory,
    LastLines,
    MemoryLimit,
    NewlySlowNodes,
)
from autoscaler.reconciling.snapshot import Context, DiskUse, Notices, RescaleMode, SignsOfLife
from jobs.admission.disk_limits import TeamDisk
from jobs.lifecycle import JobState
from tests.reconciling.builders import (
    GIB,
    NOW,
    ago,
    assignment,
    coordinator,
    generation,
    gone,
    job,
    line,
    look,
    process,
    spec,
    summary,
    unheard,
    worker,
)

if TYPE_CHECKING:
    from autoscaler.reconciling.snapshot import JobSnapshot

MINUTE = 60.0
SILENT = {LastLines("w1", 1): ()}
WARNED = ["Remember", "tell no_progress: no_progress"]
TWENTY = spec(elastic={"progress_timeout": "20m"}, retry={"max_restarts": 0})
OLD = {"created_at": ago(7200), "process": process(started_at=ago(7200))}
PAUSES = spec(idle={"after": "30m", "then": "pause"})
KILLED = [gone(f"w{n}", -9, failing=Failing.OUT_OF_MEMORY) for n in range(9)]


def quiet(minutes: float, *, told: float | None = None, **fields: Any) -> JobSnapshot:
    """A job that trains for two hours, and has shown nothing for so long; told so long ago."""
    life = SignsOfLife(
        progress_at=ago(minutes * MINUTE),
        told_of_silence_at=None if told is None else ago(told * MINUTE),
        trained_at=fields.pop("trained_at", None),
    )
    given = {
        "life": life,
        "state_since": ago(7200),
        "assignment": assignment("w1", at=ago(7200)),
        "generation": generation("w1", began_at=ago(7200)),
        "answers": SILENT,
        **fields,
    }
    return job(worker("w1", **OLD), **given)


def filling(share: float, **fields: Any) -> JobSnapshot:
    """Its files take this part of the 50 GiB that they may."""
    use = DiskUse(disk_bytes=int(50 * GIB * share), disk_files=10)
    return job(worker(), disk=use, **fields)


def of_a_team(share: float) -> Context:
    """Whose jobs keep this part of the 100 GiB that they may."""
    disk = TeamDisk(team="vision", bytes_=int(100 * GIB * share), most_bytes=100 * GIB)
    return Context(now=NOW, team_disk=disk)


def slow(**answers: frozenset[str]) -> JobSnapshot:
    question = NewlySlowNodes(frozenset({"n1"}))
    return job(worker(), worker("w2", is_straggler=True), answers={question: answers["found"]})


EXPECTED: dict[str, tuple[JobSnapshot, list[str]]] = {
    "who made a step lately is left alone": (quiet(29), []),
    "who stands still for half of its time is told so": (quiet(30), WARNED),
    "and after all of it starts again": (
        quiet(61, told=30),
        ["stop as queued: no_progress"],
    ),
    "never without a warning, however long nobody looked": (quiet(300), WARNED),
    "its spec says for how long": (
        quiet(21, told=10, spec=TWENTY),
        ["stop as failed: no_progress"],
    ),
    "a line is a sign of life": (
        quiet(30, answers={LastLines("w1", 1): (line("evaluated", at=ago(60)),)}),
        ["Remember"],
    ),
    "an older line is none": (
        quiet(30, answers={LastLines("w1", 1): (line("evaluated", at=ago(2000)),)}),
        WARNED,
    ),
    "silence of the service is not that of the job": (
        quiet(300, coordinator=coordinator(seen_at=ago(LIMITS.silence_at_rest + 1))),
        [],
    ),
    "a plain script may be silent, but its people are told": (
        quiet(30, mode=RescaleMode.RESTART),
        WARNED,
    ),
    "and it is left alone": (quiet(100, told=50, mode=RescaleMode.RESTART), []),
    "unless it says for how long": (
        quiet(21, told=10, mode=RescaleMode.RESTART, spec=TWENTY),
        ["stop as failed: no_progress"],
    ),
    "a script that hangs after its last epoch has completed": (
        quiet(61, told=30, trained_at=ago(61 * MINUTE)),
        ["stop as completed: script_did_not_end"],
    ),
    "a disk that is nearly full is told of": (
        filling(0.9, notices=Notices(disk_start=0)),
        ["tell disk_filling: out_of_disk", "RecordNotice"],
    ),
    "once": (filling(0.9, notices=Notices(disk_start=1)), []),
    "one that is half full is not": (filling(0.5), []),
    "a team's disk that is nearly full is told of": (
        filling(0.5, context=of_a_team(0.9), notices=Notices(disk_start=0)),
        ["tell disk_filling: team_disk_full", "RecordNotice"],
    ),
    "and once": (filling(0.5, context=of_a_team(0.9), notices=Notices(disk_start=1)), []),
    "who has as much as before is left alone, though its team has too much": (
        filling(0.5, context=of_a_team(2.0), notices=Notices(disk_start=1)),
        [],
    ),
    "who writes more than it may has failed": (filling(1.01), ["stop as failed: out_of_disk"]),
    "who stops already is not stopped again": (
        filling(1.01, state=JobState.PAUSED, assignment=None),
        ["stop w1 within 5 s"],
    ),
    "a job that has been idle for a while is told so": (
        job(worker(), idle_since=ago(600)),
        ["tell idle: idle", "RecordNotice"],
    ),
    "not at once": (job(worker(), idle_since=ago(599)), []),
    "once for each idleness": (
        job(worker(), idle_since=ago(700), notices=Notices(idle_since=ago(700))),
        [],
    ),
    "another one is told of as well": (
        job(worker(), idle_since=ago(700), notices=Notices(idle_since=ago(5000))),
        ["tell idle: idle", "RecordNotice"],
    ),
    "and so is its end": (
        job(worker(), notices=Notices(idle_since=ago(700))),
        ["tell busy_again", "RecordNotice"],
    ),
    "a spec says when to tell of idleness": (
        job(worker(), idle_since=ago(61), spec=spec(idle={"after": "60s"})),
        ["tell idle: idle", "RecordNotice"],
    ),
    "a job that is to be paused when idle hears it, and is": (
        job(worker(), idle_since=ago(1800), spec=PAUSES),
        ["tell idle: idle", "RecordNotice", "stop as paused: idle"],
    ),
    "not before its time": (
        job(worker(), idle_since=ago(1799), spec=PAUSES),
        [],
    ),
    "one that shrinks stays, for the planner": (
        job(worker(), idle_since=ago(1800), spec=spec(idle={"after": "30m", "then": "shrink"})),
        ["tell idle: idle", "RecordNotice"],
    ),
    "a node that was silent for a moment is no news": (job(unheard(since=ago(9))), []),
    "one that stays silent is told of": (
        job(unheard(since=ago(10), silence_notice_at=ago(50))),
        ["tell node_silent: node_lost", "RecordNotice"],
    ),
    "once for each silence": (
        job(unheard(since=ago(10), silence_notice_at=ago(5))),
        [],
    ),
    "a node of many stragglers raises an alarm": (
        slow(found=frozenset({"n1"})),
        ["tell node_is_slow: straggler", "RecordNotice"],
    ),
    "not for one straggler, nor twice": (slow(found=frozenset()), []),
    "who is always killed for its memory is given up": (
        job(
            worker("w9"),
            *KILLED,
            assignment=job(worker("w9")).assignment,
            answers={KillsForMemory(ago(3600)): 9, MemoryLimit("w8"): None},
        ),
        ["stop as failed: out_of_memory"],
    ),
    "unless that takes days": (
        job(
            worker("w9"),
            *KILLED,
            assignment=job(worker("w9")).assignment,
            answers={KillsForMemory(ago(3600)): 8},
        ),
        [],
    ),
}


@pytest.mark.parametrize("case", EXPECTED, ids=lambda case: case.replace(" ", "_"))
def test_people_are_warned_before_something_is_done(case: str) -> None:
    snapshot, expected = EXPECTED[case]
    assert summary(look(snapshot)) == expected


@pytest.mark.parametrize(
    ("snapshot", "words"),
    {
        "hot": (quiet(30), "No step was made and no line written since 11:30 UTC. 1h after"),
        "plain": (
            quiet(30, mode=RescaleMode.RESTART),
            "It is left alone; `elastic.progress_timeout`",
        ),
        "trained": (
            quiet(30, trained_at=ago(30 * MINUTE)),
            "Its training is over, but its script has neither ended nor written a line",
        ),
        "disk": (
            filling(0.9),
            "Its files take 45.0 GiB of the 50GiB that it may write",
        ),
        "disk of a team": (
            filling(0.5, context=of_a_team(0.9)),
            "Jobs of team vision keep 90.0 GiB on disk, of the 100.0 GiB that they may. Above that",
        ),
        "silence": (
            job(unheard(since=ago(10))),
            "Node n2 has not answered since 11:59 UTC (connection refused); w1 may train on there.",
        ),
        "slow": (slow(found=frozenset({"n1"})), "Node n1 slows its workers down"),
    }.values(),
)
def test_a_warning_says_what_is_seen_and_what_follows(snapshot: JobSnapshot, words: str) -> None:
    (told,) = (one for one in look(snapshot) if isinstance(one, Tell))
    assert words in told.message
