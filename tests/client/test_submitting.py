from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from jobs.changes.transitions import move
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi


def finish(job: Job, state: JobState, message: str = "") -> None:
    """Carry a queued job to its end, as the control loop would."""
    assert move(job.id, {JobState.QUEUED}, JobState.STARTING, reason="job_arrived")
    assert move(job.id, {JobState.STARTING}, JobState.RUNNING, reason="job_arrived")
    assert move(job.id, {JobState.RUNNING}, JobState.STOPPING, reason="ended")
    assert move(job.id, {JobState.STOPPING}, state, reason="ended", message=message)


def test_a_submitted_job_is_queued(concertina: CommandLine, job_file: Path) -> None:
    ended = concertina("submit", "-f", job_file)
    job = Job.objects.get()
    assert (ended.exit_code, job.name, job.state) == (0, "digits", "queued")
    assert f"Submitted vision/digits ({job.id})." in ended.err


def test_what_the_user_should_know_is_told_beside_the_submission(
    concertina: CommandLine, job_file: Path
) -> None:
    ended = concertina("submit", "-f", job_file, "--set", "elastic.grace_period=1h")
    assert "Note: elastic.grace_period is 1h, but pool default takes back" in ended.err


def test_a_program_gets_the_job_as_a_document(concertina: CommandLine, job_file: Path) -> None:
    document = concertina("submit", "-f", job_file, "-o", "json").document
    assert document["id"] == Job.objects.get().id
    assert document["resolved_spec"]["retry"]["max_restarts"] == 3


def test_fields_may_be_changed_and_the_spec_may_come_from_standard_input(
    concertina: CommandLine, job_file: Path
) -> None:
    ended = concertina(
        *("submit", "-f", "-", "--set", "elastic.max_workers=2", "--set", "labels.run=a"),
        stdin=job_file.read_text(),
    )
    spec = Job.objects.get().spec
    assert ended.exit_code == 0
    assert (spec["elastic"]["max_workers"], spec["labels"]) == (2, {"run": "a"})


def test_a_wrong_spec_is_shown_field_by_field_with_lines(
    concertina: CommandLine, job_file: Path
) -> None:
    job_file.write_text("name: x\ncomand: [a]\nelastic:\n  min_workers: two\npriority: 101\n")
    ended = concertina("submit", "-f", job_file)
    assert ended.exit_code == 3
    for expected in (
        f'comand = ["a"]  ({job_file}:2)',
        "Did you mean command?",
        f'elastic.min_workers = "two"  ({job_file}:4)',
        "is not a whole number",
        f"priority = 101  ({job_file}:5)",
    ):
        assert expected in ended.err
    assert not Job.objects.exists()


def test_a_program_gets_the_problems_as_a_document(concertina: CommandLine, job_file: Path) -> None:
    ended = concertina("submit", "-f", job_file, "--set", "elastic.min_workers=9", "-o", "json")
    assert (ended.exit_code, ended.out, ended.error["code"]) == (3, "", "invalid_spec")
    assert ended.error["details"][0]["field"] == "elastic.min_workers"


def test_a_job_that_can_never_fit_is_refused_with_the_number_that_limits(
    concertina: CommandLine, job_file: Path
) -> None:
    ended = concertina(
        "submit", "-f", job_file, "--set", "elastic={min_workers: 5, max_workers: 8}"
    )
    assert ended.exit_code == 3
    assert "needs at least 5 GPUs" in ended.err
    assert "pool default is 4" in ended.err


def test_a_broken_file_is_not_sent(concertina: CommandLine, job_file: Path) -> None:
    job_file.write_text("name: [x\n")
    ended = concertina("submit", "-f", job_file)
    assert ended.exit_code == 2
    assert f"{job_file}, line 2, column 1" in ended.err
    assert concertina("submit", "-f", "missing.yaml").exit_code == 2
    assert concertina("submit").exit_code == 2


def test_the_same_key_means_the_same_job(concertina: CommandLine, job_file: Path) -> None:
    again = ("submit", "-f", job_file, "--idempotency-key", "pipeline-7", "-o", "json")
    first, second = concertina(*again), concertina(*again)
    assert first.document["id"] == second.document["id"]
    assert "This key had submitted digits" in second.err
    other = concertina(*again, "--set", "priority=1")
    assert (other.exit_code, other.error["code"]) == (3, "idempotency_conflict")


@pytest.mark.parametrize("key", ["", "schlüssel", "a\nb", "x" * 201])
def test_a_key_that_cannot_be_sent_is_refused(
    concertina: CommandLine, job_file: Path, key: str
) -> None:
    ended = concertina("submit", "-f", job_file, "--idempotency-key", key)
    assert ended.exit_code in {2, 3}
    assert not Job.objects.exists()


def test_without_a_key_two_runs_are_two_jobs(concertina: CommandLine, job_file: Path) -> None:
    first = concertina("submit", "-f", job_file)
    second = concertina("submit", "-f", job_file)  # whose name is in use
    assert (first.exit_code, second.exit_code) == (0, 3)
    assert 'name = "digits"' in second.err
    assert "is the name of a live job of the team" in second.err


def test_validating_submits_nothing(concertina: CommandLine, job_file: Path) -> None:
    fine = concertina("validate", "-f", job_file)
    wrong = concertina("validate", "-f", job_file, "--set", "elastic.min_workers=9")
    noted = concertina("validate", "-f", job_file, "--set", "elastic.max_workers=99")
    assert (fine.exit_code, wrong.exit_code, noted.exit_code) == (0, 3, 0)
    assert "The spec is valid." in fine.out
    assert "Use at most 4, or raise max_workers." in wrong.err
    assert "the job will never reach it" in noted.out
    assert not Job.objects.exists()


def test_waiting_tells_the_outcome(concertina: CommandLine, job_file: Path) -> None:
    outcomes = {JobState.COMPLETED: 0, JobState.FAILED: 1, JobState.CANCELLED: 7}
    for state, exit_code in outcomes.items():
        with concertina.running("submit", "-f", job_file, "--wait") as (running, end):
            running.wait_until_said("queued, 0 workers")
            finish(Job.objects.get(state=JobState.QUEUED), state, message="Because of the test.")
            ended = end()
        assert ended.exit_code == exit_code
        assert f"vision/digits {state} after" in ended.out
        for move_shown in ("queued → starting", "starting → running", f"stopping → {state}"):
            assert ended.err.count(move_shown) == 1
        assert "Because of the test." in ended.err


def test_waiting_gives_a_program_only_the_final_job(
    concertina: CommandLine, job_file: Path
) -> None:
    with concertina.running("submit", "-f", job_file, "--wait", "-o", "json") as (running, end):
        running.wait_until_said("queued, 0 workers")
        finish(Job.objects.get(), JobState.COMPLETED)
        ended = end()
    assert (ended.exit_code, ended.document["state"]) == (0, "completed")


def test_waiting_survives_a_restart_of_the_api(
    concertina: CommandLine, job_file: Path, api: RunningApi
) -> None:
    with concertina.running("submit", "-f", job_file, "--wait") as (running, end):
        running.wait_until_said("queued, 0 workers")
        with api.away():
            running.wait_until_said("Trying again in", times=2)
            finish(Job.objects.get(), JobState.COMPLETED)
        ended = end()
    assert ended.exit_code == 0
    assert ended.err.count("stopping → completed") == 1
    assert Job.objects.count() == 1


def test_submitting_waits_for_an_api_that_restarts(
    concertina: CommandLine, job_file: Path, api: RunningApi
) -> None:
    with ExitStack() as commands:
        with api.away():
            running, end = commands.enter_context(concertina.running("submit", "-f", job_file))
            running.wait_until_said("Trying again in")
        assert end().exit_code == 0
    assert Job.objects.count() == 1


def test_an_interrupted_wait_leaves_the_job_alone(concertina: CommandLine, job_file: Path) -> None:
    with concertina.running("submit", "-f", job_file, "--wait") as (running, end):
        running.wait_until_said("queued, 0 workers")
        running.interrupt()
        ended = end()
    assert ended.exit_code == 130
    assert "The job goes on." in ended.err
    assert Job.objects.get().state == JobState.QUEUED


def test_one_may_wait_for_a_job_submitted_before(concertina: CommandLine, job_file: Path) -> None:
    concertina("submit", "-f", job_file)
    finish(Job.objects.get(), JobState.FAILED, message="Exit code 1.")
    ended = concertina("wait", "digits")
    assert ended.exit_code == 1
    assert "Exit code 1." in ended.err


def test_a_job_that_has_ended_is_deleted_if_one_is_sure(
    concertina: CommandLine, job_file: Path
) -> None:
    job = concertina("submit", "-f", job_file, "-o", "json").document
    refused = concertina("delete", job["id"], "--yes")
    assert refused.exit_code == 3
    assert "Cancel it first" in refused.err
    concertina("cancel", job["id"])
    assert concertina("pin", job["id"], "-o", "json").document["is_pinned"] is True
    concertina("unpin", job["id"])
    assert "--yes" in concertina("delete", job["id"]).err  # nobody is there to be asked
    assert "is deleted" in concertina("delete", job["id"], "--yes").out
    assert concertina("describe", job["id"]).exit_code == 4


SWEEP = """\
spec:
  name: digits
  command: [python, train.py]
  workdir: src
changes:
  - {name: slow, env.LR: "0.01"}
  - env.LR: "0.1"
    elastic.max_workers: 2
"""
LIST = """\
- name: a
  command: [python, train.py]
- name: b
  command: [python, train.py]
"""


def in_file(folder: Path, text: str, name: str = "runs.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_sweep_is_submitted_whole_and_each_job_told(
    concertina: CommandLine, tmp_path: Path
) -> None:
    file = in_file(tmp_path, SWEEP)
    ended = concertina("submit", "--bulk", "-f", file, "--set", "priority=7")
    slow, other = Job.objects.order_by("submitted_at")
    assert (ended.exit_code, slow.name, other.name) == (0, "slow", "digits-2")
    assert ended.out.split() == [slow.id, "slow", other.id, "digits-2"]
    assert "Submitted 2 jobs." in ended.err
    assert (slow.priority, other.resolved_spec["elastic"]["max_workers"]) == (7, 2)
    assert slow.spec["workdir"] == str(tmp_path / "src")


@pytest.mark.parametrize(
    "text",
    [
        LIST,
        "jobs:\n" + LIST,
        '{"name": "a", "command": ["x"]}\n\n{"name": "b", "command": ["x"]}\n',
    ],
)
def test_many_jobs_may_be_written_in_several_forms(
    concertina: CommandLine, tmp_path: Path, text: str
) -> None:
    ended = concertina("submit", "--bulk", "-f", "-", "-o", "json", stdin=text)
    assert [job["name"] for job in ended.document["items"]] == ["a", "b"]
    ids = {job["id"] for job in ended.document["items"]}
    assert ids == set(Job.objects.values_list("id", flat=True))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LIST + "  priority: 101\n", "jobs[1].priority = 101  ({file}:5)"),
        (SWEEP.replace(": 2", ": two"), 'changes[1].elastic.max_workers = "two"  ({file}:8)'),
        (
            '{"name": "a", "command": ["x"]}\n\n{"name": "b", "seed": 1}',
            "jobs[1].command = (not set)  ({file}:3)",
        ),
    ],
)
def test_the_line_of_a_wrong_job_is_shown(
    concertina: CommandLine, tmp_path: Path, text: str, shown: str
) -> None:
    file = in_file(tmp_path, text)
    ended = concertina("submit", "--bulk", "-f", file)
    assert ended.exit_code == 3
    assert shown.format(file=file) in ended.err
    assert not Job.objects.exists()


@pytest.mark.parametrize("text", ["name: a\ncommand: [x]\n", "jobs: a\n", "5\n", ""])
def test_a_file_without_many_jobs_is_not_sent(
    concertina: CommandLine, tmp_path: Path, text: str
) -> None:
    assert concertina("submit", "--bulk", "-f", in_file(tmp_path, text)).exit_code == 2


def test_nobody_waits_for_many_jobs(concertina: CommandLine, tmp_path: Path) -> None:
    ended = concertina("submit", "--bulk", "--wait", "-f", in_file(tmp_path, LIST))
    assert (ended.exit_code, Job.objects.count()) == (2, 0)


def test_the_same_key_means_the_same_jobs(concertina: CommandLine, tmp_path: Path) -> None:
    again = ("submit", "--bulk", "-f", in_file(tmp_path, LIST), "--idempotency-key", "sweep-7")
    first, second = concertina(*again), concertina(*again)
    assert first.out == second.out
    assert "This key had submitted 2 jobs." in second.err
    assert Job.objects.count() == 2
