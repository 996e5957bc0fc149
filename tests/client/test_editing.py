"""What do `concertina edit` and `concertina rerun` do, and what do they say?"""

from __future__ import annotations

from pathlib import Path

import pytest

from jobs.lifecycle import JobState
from jobs.models import Job
from tests.client.command_line import CommandLine


@pytest.fixture
def job(concertina: CommandLine, job_file: Path) -> Job:
    assert concertina("submit", "-f", job_file).exit_code == 0
    return Job.objects.get()


def test_what_has_changed_is_said_field_by_field(concertina: CommandLine, job: Job) -> None:
    ended = concertina("edit", "digits", "--max-workers", "6", "--priority", "60")
    assert (ended.exit_code, ended.out.splitlines()) == (
        0,
        [
            f"vision/digits ({job.id}) has changed, and is at version 2 now:",
            f"  elastic.max_workers: {job.resolved_spec['elastic']['max_workers']} → 6",
            "  priority: 50 → 60",
        ],
    )
    job.refresh_from_db()
    assert (job.resolved_spec["elastic"]["max_workers"], job.priority) == (6, 60)


OPTIONS: dict[str, tuple[str, str, object]] = {
    "--min-workers": ("2", "elastic.min_workers", 2),
    "--max-workers": ("3", "elastic.max_workers", 3),
    "--min-batch": ("16", "batch.global_batch_size.min", 16),
    "--max-batch": ("4096", "batch.global_batch_size.max", 4096),
    "--pools": ("default", "pools", ["default"]),
    "--priority": ("70", "priority", 70),
    "--preemptibility": ("preemptible", "preemptibility", "preemptible"),
    "--deadline": ("2100-01-01T00:00:00Z", "deadline", "2100-01-01T00:00:00Z"),
    "--max-restarts": ("9", "retry.max_restarts", 9),
    "--min-interval": ("5m", "elastic.min_interval", "5m"),
    "--set": ("labels.run=a", "labels.run", "a"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_each_option_changes_its_field(concertina: CommandLine, job: Job, option: str) -> None:
    text, field, value = OPTIONS[option]
    ended = concertina("edit", job.id, option, text)
    assert ended.exit_code == 0, ended.err
    job.refresh_from_db()
    found = job.resolved_spec
    for name in field.split("."):
        found = found[name]
    assert found == value


def test_a_field_gets_its_default_back(concertina: CommandLine, job: Job) -> None:
    concertina("edit", job.id, "--priority", "70")
    concertina("edit", job.id, "--set", "priority=null")
    job.refresh_from_db()
    assert job.priority == 50


def test_a_program_gets_the_changed_job(concertina: CommandLine, job: Job) -> None:
    document = concertina("edit", job.id, "--priority", "60", "-o", "json").document
    assert (document["id"], document["priority"], document["version"]) == (job.id, 60, 2)


def test_what_is_so_already_is_said(concertina: CommandLine, job: Job) -> None:
    ended = concertina("edit", job.id, "--priority", "50")
    assert (ended.exit_code, ended.out.strip()) == (
        0,
        f"vision/digits ({job.id}) asks for that already.",
    )


def test_nothing_to_change_is_wrong_usage(concertina: CommandLine, job: Job) -> None:
    ended = concertina("edit", job.id)
    assert ended.exit_code == 2
    assert "--max-workers 8" in ended.err


def test_what_cannot_be_changed_is_named_with_what_to_do(concertina: CommandLine, job: Job) -> None:
    ended = concertina("edit", job.id, "--set", "env.LR=0.1")
    assert ended.exit_code == 3
    assert "env.LR" in ended.err
    assert "concertina rerun" in ended.err


def test_a_job_runs_again_with_changes(concertina: CommandLine, job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.COMPLETED)
    ended = concertina("rerun", job.id, "--set", "env.LR=0.1", "--set", "priority=70")
    assert ended.exit_code == 0, ended.err
    again = Job.objects.exclude(pk=job.pk).get()
    assert (again.name, again.resolved_spec["env"], again.priority) == (
        job.name,
        {"LR": "0.1"},
        70,
    )
    assert f"Submitted vision/digits ({again.id})." in ended.err


def test_a_job_that_lives_runs_beside_itself_under_another_name(
    concertina: CommandLine, job: Job
) -> None:
    ended = concertina("rerun", job.id)
    assert (ended.exit_code, "Use another name" in ended.err) == (3, True)
    assert concertina("rerun", job.id, "--name", "digits-2").exit_code == 0
    assert Job.objects.filter(name="digits-2").exists()
