"""What do exit codes, last words and moments say of a worker or a job?"""

from __future__ import annotations

import signal
from datetime import timedelta

import pytest
from cluster.worker_host import Failing

from autoscaler.job_vocabulary import JobReason
from autoscaler.reconciling.assessments.disk_excess import excess_of, sentence
from autoscaler.reconciling.assessments.signs_of_life import (
    LOSSES_COUNT_FOR,
    DueReaction,
    due,
    losses_in_a_row,
)
from autoscaler.reconciling.endings import (
    WorkerEnding,
    cannot_run_as_it_stands,
    described,
    ending_of,
)
from autoscaler.reconciling.snapshot import Context, DiskUse, JobSnapshot, SignsOfLife
from jobs.admission.disk_limits import DiskLimits, TeamDisk
from jobs.spec.quantities import size_in_words
from tests.reconciling.builders import GIB, NOW, job, spec, worker

MINUTE = timedelta(minutes=1)
LIMITS = DiskLimits(usual_bytes=50 * GIB, most_bytes=200 * GIB, most_files=1000)


@pytest.mark.parametrize(
    ("exit_code", "failing", "ending"),
    [
        (0, "", WorkerEnding.COMPLETED),
        (83, "", WorkerEnding.RELEASED),
        (127, "", WorkerEnding.CANNOT_RUN),
        (126, "", WorkerEnding.CANNOT_RUN),
        (1, "", WorkerEnding.FAILED),
        (-signal.SIGSEGV, "", WorkerEnding.FAILED),
        (-signal.SIGKILL, "", WorkerEnding.LOST),
        (84, "", WorkerEnding.LOST),
        (86, "", WorkerEnding.LOST),
        (None, "", WorkerEnding.LOST),
        (1, Failing.OUT_OF_MEMORY, WorkerEnding.LOST),
        (0, Failing.OUT_OF_MEMORY, WorkerEnding.COMPLETED),
        (None, Failing.CANNOT_START, WorkerEnding.NOT_STARTED),
        (None, Failing.IMAGE_UNAVAILABLE, WorkerEnding.NO_IMAGE),
        (1, "of another release", WorkerEnding.FAILED),
    ],
)
def test_an_exit_code_has_one_meaning(
    exit_code: int | None, failing: str, ending: WorkerEnding
) -> None:
    assert ending_of(exit_code, failing) is ending


def test_an_ending_reads_as_part_of_a_sentence() -> None:
    assert [described(code) for code in (1, -9, None, 84)] == [
        "exit code 1",
        "signal SIGKILL",
        "no trace",
        "exit code 84 (it had no coordinator for too long)",
    ]


@pytest.mark.parametrize(
    ("exit_code", "said", "remedy"),
    [
        (1, "SyntaxError: invalid syntax", "Correct the script"),
        (1, "ModuleNotFoundError: No module named 'timm'", "Install the package"),
        (2, "train.py: error: unrecognized arguments: --epoch 3", "Correct `command`"),
        (2, "python: can't open file '/srv/trian.py': [Errno 2] No such file", "Correct `command`"),
    ],
)
def test_a_script_may_say_itself_that_it_cannot_run(exit_code: int, said: str, remedy: str) -> None:
    why = cannot_run_as_it_stands(exit_code, said)
    assert why.startswith(said)
    assert remedy in why


@pytest.mark.parametrize(("exit_code", "said"), [(1, "ValueError: 3"), (1, "x: error: y"), (2, "")])
def test_most_do_not(exit_code: int, said: str) -> None:
    assert cannot_run_as_it_stands(exit_code, said) == ""


@pytest.mark.parametrize(
    ("quiet", "told", "expected"),
    [
        pytest.param(10, None, None, id="hardly quiet"),
        pytest.param(30, None, DueReaction.TELL, id="half of the time"),
        pytest.param(300, None, DueReaction.TELL, id="nobody looked for long"),
        pytest.param(300, 29, None, id="told a moment ago"),
        pytest.param(60, 30, DueReaction.END, id="all of the time"),
        pytest.param(10, 40, None, id="told of an earlier silence"),
        pytest.param(31, 40, DueReaction.TELL, id="quiet once more"),
    ],
)
def test_nobody_is_ended_without_a_warning(
    quiet: int, told: int | None, expected: DueReaction | None
) -> None:
    told_at = None if told is None else NOW - told * MINUTE
    assert due(since=NOW - quiet * MINUTE, told_at=told_at, now=NOW, timeout=3600) is expected


def lost_before(*, losses: int, ago: timedelta, lived: timedelta | None = None) -> SignsOfLife:
    progress_at = None if lived is None else NOW - lived
    return SignsOfLife(losses_in_a_row=losses, lost_at=NOW - ago, progress_at=progress_at)


@pytest.mark.parametrize(
    ("life", "in_a_row"),
    [
        pytest.param(SignsOfLife(), 1, id="the first"),
        pytest.param(lost_before(losses=3, ago=MINUTE), 4, id="once more"),
        pytest.param(lost_before(losses=3, ago=MINUTE, lived=2 * MINUTE), 4, id="lived before"),
        pytest.param(lost_before(losses=3, ago=2 * MINUTE, lived=MINUTE), 1, id="lived between"),
        pytest.param(lost_before(losses=4, ago=LOSSES_COUNT_FOR + MINUTE), 1, id="long ago"),
    ],
)
def test_losses_count_while_nothing_lives_between(life: SignsOfLife, in_a_row: int) -> None:
    assert losses_in_a_row(life, now=NOW) == in_a_row


def writing(
    use: DiskUse, resources: dict[str, str] | None = None, team: TeamDisk | None = None
) -> JobSnapshot:
    context = Context(now=NOW, disk_limits=LIMITS, team_disk=team)
    return job(worker(), spec=spec(resources=resources or {}), disk=use, context=context)


def takes(disk_bytes: int, files: int = 10, *, is_closed: bool = False) -> DiskUse:
    return DiskUse(disk_bytes=disk_bytes, disk_files=files, has_closed_folder=is_closed)


@pytest.mark.parametrize(
    ("resources", "use", "expected"),
    [
        pytest.param({}, DiskUse(), None, id="nobody has measured it"),
        pytest.param({}, takes(50 * GIB), None, id="all that it may"),
        pytest.param({}, takes(50 * GIB + 1), JobReason.OUT_OF_DISK, id="a byte more"),
        pytest.param({"disk_per_job": "100GiB"}, takes(60 * GIB), None, id="asked"),
        pytest.param(
            {"disk_per_job": "10GiB"}, takes(20 * GIB), JobReason.OUT_OF_DISK, id="asked for less"
        ),
        pytest.param(
            {"disk_per_job": "900GiB"},
            takes(201 * GIB),
            JobReason.OUT_OF_DISK,
            id="the most was lowered since",
        ),
        pytest.param({}, takes(0, 1000), None, id="all files that it may"),
        pytest.param({}, takes(0, 1001), JobReason.TOO_MANY_FILES, id="a file more"),
        pytest.param(
            {}, takes(0, 1, is_closed=True), JobReason.FOLDER_CLOSED, id="it hides something"
        ),
    ],
)
def test_what_is_known_of_a_disk_decides(
    resources: dict[str, str], use: DiskUse, expected: JobReason | None
) -> None:
    assert excess_of(writing(use, resources)) is expected


def test_the_sentence_names_the_limit_what_was_used_and_what_to_do() -> None:
    greedy = writing(takes(61 * GIB + GIB // 2))
    assert sentence(JobReason.OUT_OF_DISK, greedy) == (
        "Its files take 61.5 GiB, more than the 50GiB that it may write"
        " (`resources.disk_per_job`). Write less, keep fewer checkpoints (`checkpoint.keep_last`),"
        " or ask for more: at most 200GiB here."
        " It is not tried again; `concertina delete` frees what it holds."
    )
    assert "more than the 1000 files" in sentence(JobReason.TOO_MANY_FILES, greedy)
    assert "`chmod u+rx`" in sentence(JobReason.FOLDER_CLOSED, greedy)


def of_team(size: int) -> TeamDisk:
    return TeamDisk(team="vision", bytes_=size, most_bytes=100 * GIB)


@pytest.mark.parametrize(
    ("within", "takes_now", "team", "is_ended"),
    [
        pytest.param(5 * GIB, 6 * GIB, of_team(100 * GIB), False, id="there is just room"),
        pytest.param(5 * GIB, 6 * GIB, of_team(100 * GIB + 1), True, id="there is no more"),
        pytest.param(6 * GIB, 6 * GIB, of_team(200 * GIB), False, id="it writes no more"),
        pytest.param(6 * GIB, 5 * GIB, of_team(200 * GIB), False, id="it deletes"),
        pytest.param(6 * GIB, 6 * GIB + (64 << 20), of_team(200 * GIB), False, id="a little more"),
        pytest.param(0, (64 << 20) + 1, of_team(200 * GIB), True, id="a byte more than that"),
        pytest.param(None, 40 * GIB, of_team(200 * GIB), False, id="nothing is known of before"),
        pytest.param(5 * GIB, 6 * GIB, None, False, id="its team was deleted"),
    ],
)
def test_of_a_team_without_room_that_job_is_ended_which_writes_on(
    within: int | None, takes_now: int, team: TeamDisk | None, *, is_ended: bool
) -> None:
    use = DiskUse(disk_bytes=takes_now, disk_files=1, bytes_within=within)
    found = excess_of(writing(use, team=team))
    assert found is (JobReason.TEAM_DISK_FULL if is_ended else None)


def test_what_ended_it_is_told_with_what_to_delete_and_whom_to_ask() -> None:
    use = DiskUse(disk_bytes=6 * GIB, disk_files=1, bytes_within=0)
    said = sentence(JobReason.TEAM_DISK_FULL, writing(use, team=of_team(101 * GIB)))
    assert said == (
        "Jobs of team vision keep 101.0 GiB on disk, more than the 100.0 GiB that they may."
        " This job wrote on, and its files take 6.0 GiB. Delete what nobody needs"
        " (`concertina storage --team vision` names the jobs that keep most), or ask an admin to"
        " raise the team's `most_disk_gib`."
        " It is not tried again; `concertina delete` frees what it holds."
    )


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 KiB"), (2048, "2 KiB"), (3 << 19, "1.5 MiB"), (GIB, "1.0 GiB"), (5 << 39, "2.5 TiB")],
)
def test_sizes_are_told_as_people_read_them(size: int, words: str) -> None:
    assert size_in_words(size) == words
