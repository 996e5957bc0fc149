"""DELETE /jobs/{id}: what goes with a job, what stays of it, and who is refused."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient

from autoscaler.control_loop.housekeeping.folders.leftovers import remove_leftovers
from autoscaler.control_loop.lease.exclusive import Fence, LeaseLost, exclusively
from autoscaler.control_loop.lease.orders import FencedOrders
from jobs.commands import pinning
from jobs.commands.removal import job_deletion
from jobs.errors import JobNotOver
from jobs.lifecycle import FINAL, JobState
from jobs.models import (
    Assignment,
    Event,
    Generation,
    GpuClaim,
    IdempotencyKey,
    Job,
    Leftover,
    PastUsage,
    Worker,
)
from tests.left_checkpoints import leave
from tests.service.conftest import SubmitJob, generation, run


def end(job: Job, *, state: str = "completed", gpu_seconds: float = 90.0) -> Job:
    """With two workers behind it."""
    for worker in run(job, workers=2):
        worker.claims.all().delete()
    Worker.objects.filter(job=job).update(phase="gone", gone_at=timezone.now())
    generation(job, 1)
    Job.objects.filter(pk=job.pk).update(
        state=state, finished_at=timezone.now(), gpu_seconds=gpu_seconds
    )
    return job


def folders(job: Job, state_dir: Path) -> list[Path]:
    """Of its files and its logs, with something in them."""
    made = [state_dir / "jobs" / job.id, state_dir / "logs" / job.id]
    for folder in made:
        folder.mkdir(parents=True)
        (folder / "file").write_text("x")
    return made


def sweep(state_dir: Path, now: datetime) -> None:
    """As a tick does."""
    with exclusively(holder="test", now=now) as fence:
        assert fence is not None
        remove_leftovers(FencedOrders(fence=fence, state_dir=state_dir), now)


def test_a_job_goes_with_all_that_belongs_to_it_and_nothing_else(
    api: APIClient, submit: SubmitJob, tmp_path: Path
) -> None:
    gone, stays = end(submit(name="a")), end(submit(name="b"))
    lost, kept = folders(gone, tmp_path), folders(stays, tmp_path)

    assert api.delete(f"/api/v1/jobs/{gone.id}").status_code == 204
    assert api.get(f"/api/v1/jobs/{gone.id}").status_code == 404
    sweep(tmp_path, timezone.now())

    for kind in (Assignment, Event, Generation, Worker, IdempotencyKey):
        assert not kind.objects.filter(job=gone.id).exists(), kind  # type: ignore[attr-defined]
    assert Worker.objects.filter(job=stays).count() == 2
    assert [folder.exists() for folder in (*lost, *kept)] == [False, False, True, True]
    assert not Leftover.objects.exists()


@pytest.mark.parametrize("part", [Leftover.Part.FILES, Leftover.Part.WORK])
def test_of_an_old_completed_job_the_last_checkpoint_stays_until_it_is_deleted(
    api: APIClient, submit: SubmitJob, tmp_path: Path, part: Leftover.Part
) -> None:
    completed, failed = end(submit(name="a")), end(submit(name="b"), state="failed")
    for job in (completed, failed):
        folder = tmp_path / "jobs" / job.id
        (folder / "work").mkdir(parents=True)
        for step in (10, 20):
            told = leave(folder / "checkpoints", step)
        job_deletion.leave_files([job.id], part)
    sweep(tmp_path, timezone.now())
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.glob("jobs/[!.]*/**/*.*")} == {
        f"jobs/{completed.id}/checkpoints/step-000000000020.pt",
        f"jobs/{completed.id}/checkpoints/step-000000000020.{told.weights_digest[:16]}.safetensors",
    }
    job_deletion.leave_files([completed.id], part)
    sweep(tmp_path, timezone.now())  # nothing is lost by a second look
    assert len(list((tmp_path / "jobs" / completed.id / "checkpoints").iterdir())) == 2
    assert api.delete(f"/api/v1/jobs/{completed.id}").status_code == 204
    sweep(tmp_path, timezone.now())
    assert not (tmp_path / "jobs" / completed.id).exists()


def test_the_gpu_time_of_deleted_jobs_stays(api: APIClient, submit: SubmitJob) -> None:
    jobs = [end(submit(name=name), gpu_seconds=45.0) for name in ("a", "b", "c")]
    for job in jobs[:2]:
        assert api.delete(f"/api/v1/jobs/{job.id}").status_code == 204
    row = PastUsage.objects.get()
    assert (row.team, row.pool, row.jobs, row.gpu_seconds) == ("vision", "default", 2, 90.0)


@pytest.mark.parametrize("state", sorted(set(JobState) - FINAL))
def test_a_job_that_lives_is_not_deleted(api: APIClient, job: Job, state: str) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)
    answer = api.delete(f"/api/v1/jobs/{job.id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "job_not_over")
    assert "Cancel it first" in answer.json()["message"]
    assert Job.objects.filter(pk=job.pk).exists()
    assert not Leftover.objects.exists()


def test_a_pinned_job_has_to_be_unpinned_first(api: APIClient, job: Job) -> None:
    end(job)
    assert api.post(f"/api/v1/jobs/{job.id}/pin").json()["is_pinned"] is True
    answer = api.delete(f"/api/v1/jobs/{job.id}")
    assert (answer.status_code, answer.json()["code"]) == (409, "job_pinned")
    assert api.post(f"/api/v1/jobs/{job.id}/unpin").json()["is_pinned"] is False
    assert api.delete(f"/api/v1/jobs/{job.id}").status_code == 204


def test_a_team_pins_a_bounded_number_of_jobs(
    api: APIClient, submit: SubmitJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinning, "MOST_PINNED", 1)
    first, second = submit(name="first"), submit(name="second")
    for _ in range(2):  # the same one counts once
        assert api.post(f"/api/v1/jobs/{first.id}/pin").status_code == 200
    answer = api.post(f"/api/v1/jobs/{second.id}/pin")
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_pinned_jobs")
    api.post(f"/api/v1/jobs/{first.id}/unpin")
    assert api.post(f"/api/v1/jobs/{second.id}/pin").status_code == 200


def test_another_teams_job_is_not_found(foreign_api: APIClient, job: Job) -> None:
    end(job)
    for method, path in (("delete", ""), ("post", "/pin"), ("post", "/unpin")):
        asked = getattr(foreign_api, method)(f"/api/v1/jobs/{job.id}{path}")
        assert asked.status_code == 404
    assert Job.objects.filter(pk=job.pk, is_pinned=False).exists()


def test_deleting_takes_as_many_statements_however_much_there_is(
    submit: SubmitJob, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    job = end(submit())
    Event.objects.bulk_create(Event(job=job, kind="noise") for _ in range(500))
    with django_assert_max_num_queries(40):
        job_deletion.delete(job_id=job.id)


def test_a_folder_that_cannot_be_removed_holds_up_no_other(
    submit: SubmitJob, api: APIClient, tmp_path: Path
) -> None:
    stuck, other = end(submit(name="a")), end(submit(name="b"))
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs" / stuck.id).write_text("a file where a folder belongs")
    (logs,) = [folder for folder in folders(other, tmp_path) if "logs" in folder.parts]
    for job in (stuck, other):
        api.delete(f"/api/v1/jobs/{job.id}")

    now = timezone.now()
    sweep(tmp_path, now)
    assert not logs.exists()
    left = Leftover.objects.get()
    assert (left.job_id, left.part) == (stuck.id, "files")
    assert left.due_at > now


def test_an_overtaken_tick_removes_nothing(
    submit: SubmitJob, api: APIClient, tmp_path: Path
) -> None:
    gone = end(submit(name="a"))
    made = folders(gone, tmp_path)
    api.delete(f"/api/v1/jobs/{gone.id}")
    now = timezone.now()
    with pytest.raises(LeaseLost):
        remove_leftovers(FencedOrders(fence=Fence(number=99), state_dir=tmp_path), now)
    assert Leftover.objects.count() == 2
    assert all(folder.is_dir() for folder in made)
    sweep(tmp_path, now)
    assert not Leftover.objects.exists()


def test_the_files_of_a_job_that_lives_are_never_removed(job: Job, tmp_path: Path) -> None:
    kept = folders(job, tmp_path)
    job_deletion.leave_files([job.id], *Leftover.Part)
    sweep(tmp_path, timezone.now())
    assert all(folder.exists() for folder in kept)


def test_outputs_and_what_a_job_worked_with_go_each_in_its_time(
    submit: SubmitJob, tmp_path: Path
) -> None:
    job = end(submit(name="a"))
    folder, logs = folders(job, tmp_path)
    for name in ("outputs", "checkpoints"):
        (folder / name).mkdir()
    (folder / "link").symlink_to(logs)
    job_deletion.leave_files([job.id], Leftover.Part.WORK)
    sweep(tmp_path, timezone.now())
    assert [one.name for one in folder.iterdir()] == ["outputs"]
    job_deletion.leave_files([job.id], Leftover.Part.OUTPUTS, Leftover.Part.WORK)
    sweep(tmp_path, timezone.now())
    assert list(folder.iterdir()) == []
    assert (logs / "file").exists()
    assert not Leftover.objects.exists()


def test_claims_of_gpus_are_never_taken_away_with_a_job(submit: SubmitJob) -> None:
    """What still runs holds its GPU until it was seen gone, whatever the job's row says."""
    job = submit()
    run(job, workers=1)
    Job.objects.filter(pk=job.pk).update(state="failed", finished_at=timezone.now())
    with pytest.raises(JobNotOver):
        job_deletion.delete(job_id=job.id)
    assert job_deletion.erase([job.id]) == 0
    assert GpuClaim.objects.filter(worker__job=job).exists()
