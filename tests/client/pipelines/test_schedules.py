"""Does the command line add, show, change, pause, resume, run and delete schedules?"""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from schedules.models import TeamSchedule

from concertina.client import Client
from jobs.models import Job
from tests.client.command_line import CommandLine
from tests.client.running_api import RunningApi
from tests.service.conftest import spec


@pytest.fixture
def job_file(tmp_path: Path) -> Path:
    path = tmp_path / "job.yaml"
    path.write_text(yaml.safe_dump(spec()))
    return path


def test_a_schedule_from_its_file_to_its_jobs_and_its_end(
    concertina: CommandLine, job_file: Path
) -> None:
    assert "No schedules" in concertina("schedules", "list").err
    added = concertina(
        *("schedules", "add", "nightly", "--cron", "0 2 * * *", "--zone", "Europe/Berlin"),
        *("-f", job_file, "--set", "priority=60", "--overlap", "allow", "--start-within", "30"),
    )
    assert added.exit_code == 0, added.err
    assert "Schedule nightly is due next at" in added.out
    schedule = TeamSchedule.objects.get()
    assert (schedule.spec["priority"], schedule.start_within) == (60, 1800)
    assert "0 2 * * * Europe/Berlin" in " ".join(concertina("schedules", "list").out.split())

    ran = concertina("schedules", "run", "nightly", "--idempotency-key", "one")
    job = Job.objects.get()
    assert ran.out.split() == [job.id, job.name]
    assert concertina("schedules", "run", "nightly", "--idempotency-key", "one").exit_code == 0
    assert Job.objects.count() == 1
    (listed,) = concertina("ps", "--schedule", "nightly", "-o", "json").document
    assert listed["id"] == job.id
    assert "Schedule nightly, for" in " ".join(concertina("describe", job.id).out.split())
    shown = " ".join(concertina("schedules", "show", "nightly").out.split())
    assert "the last one, within" in shown
    assert f"submitted {job.name[:20]}" in shown

    changed = concertina(
        "schedules", "change", "nightly", "--cron", "30 3 * * 1-5", "--set", "seed=7"
    )
    assert changed.exit_code == 0, changed.err
    schedule.refresh_from_db()
    assert (schedule.cron, schedule.spec["seed"], schedule.version) == ("30 3 * * 1-5", 7, 2)
    assert "Say what to change" in concertina("schedules", "change", "nightly").err

    paused = concertina("schedules", "pause", "nightly", "--reason", "holidays")
    assert "is paused. Paused by" in paused.out
    assert "paused" in concertina("schedules", "list").out
    assert "holidays" in concertina("schedules", "show", "nightly").out
    assert "is due next at" in concertina("schedules", "resume", "nightly").out
    assert "Its jobs stay" in concertina("schedules", "delete", "nightly").out
    assert concertina("schedules", "show", "nightly").exit_code == 4
    assert "nightly" in concertina("describe", job.id).out


def test_what_is_wrong_names_its_line_and_what_to_do(
    concertina: CommandLine, job_file: Path
) -> None:
    job_file.write_text(job_file.read_text() + "deadline: 2030-01-01T00:00:00Z\n")
    ended = concertina("schedules", "add", "nightly", "--cron", "0 2 * * *", "-f", job_file)
    assert ended.exit_code == 3
    assert "job.yaml:" in "".join(ended.err.split())
    ended = concertina("schedules", "add", "nightly", "--cron", "* * * * *", "-f", job_file)
    assert "the least is 5 minutes" in " ".join(ended.err.split())


def test_a_program_changes_what_it_has_read(api: RunningApi, token_of: dict[str, str]) -> None:
    with Client(api.url, token_of["vision"]) as client:
        made = client.schedules.add("weekly", spec(), "0 2 * * 1", overlap="replace")
        changed = client.schedules.change("weekly", {"catch_up": "none"}, version=made["version"])
        assert (changed["catch_up"], changed["overlap"]) == ("none", "replace")
        assert client.schedules.all()[0]["version"] == 2
