"""Nodes and teams are deleted in the admin: with what belongs to them, unless something lives."""

from __future__ import annotations

import pytest
from cluster.models import Node, Pool
from django.contrib.auth.models import User
from django.db.models import ProtectedError
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.access.keys import tokens
from tenancy.models import Secret, Team, Token

from jobs.commands.removal import team_deletion
from jobs.errors import TeamInUse
from jobs.models import Job, Leftover, PastUsage, Worker
from tests.service.conftest import SubmitJob, run

DELETE_SELECTED = {"action": "delete_selected", "post": "yes"}


@pytest.fixture
def browser(admin_user: User) -> Client:
    client = Client()
    client.force_login(admin_user)
    return client


def end(job: Job) -> None:
    for worker in Worker.objects.filter(job=job):
        worker.claims.all().delete()
    Worker.objects.filter(job=job).update(phase="gone", gone_at=timezone.now())
    Job.objects.filter(pk=job.pk).update(
        state="completed", finished_at=timezone.now(), gpu_seconds=30.0
    )


def test_a_node_on_which_a_job_runs_stays(job: Job, browser: Client) -> None:
    node = run(job, workers=1)[0].node
    assert node is not None
    Job.objects.filter(pk=job.pk).update(state="running")
    told = browser.get(f"/admin/cluster/node/{node.pk}/delete/").content.decode()
    assert "would require deleting the following protected" in told
    browser.post(f"/admin/cluster/node/{node.pk}/delete/", {"post": "yes"})
    assert Node.objects.filter(pk=node.pk).exists()
    # Not even when its workers there are gone, as long as it is the same attempt.
    for worker in Worker.objects.filter(job=job):
        worker.claims.all().delete()
    with pytest.raises(ProtectedError, match="protected"):
        node.delete()


def test_a_node_goes_and_those_who_were_there_keep_its_name(
    api: APIClient, job: Job, browser: Client
) -> None:
    node = run(job, workers=2)[0].node
    assert node is not None
    end(job)
    told = browser.get(f"/admin/cluster/node/{node.pk}/delete/").content.decode()
    assert "Are you sure" in told
    browser.post(f"/admin/cluster/node/{node.pk}/delete/", {"post": "yes"})
    assert not Node.objects.filter(pk=node.pk).exists()
    listed = api.get(f"/api/v1/jobs/{job.id}/workers").json()["items"]
    assert [one["node"] for one in listed] == [node.name] * 2
    job.refresh_from_db()
    assert job.gpu_seconds == 30.0


def test_a_team_with_a_job_that_lives_stays_and_the_page_says_why(
    vision: Team, job: Job, browser: Client
) -> None:
    told = browser.get(f"/admin/tenancy/team/{vision.pk}/delete/").content.decode()
    assert f"Job {job.name} ({job.pk}) is queued: cancel it." in told
    browser.post(f"/admin/tenancy/team/{vision.pk}/delete/", {"post": "yes"})
    assert Team.objects.filter(pk=vision.pk).exists()
    with pytest.raises(TeamInUse):
        team_deletion.delete_team(vision)


def test_pinned_jobs_and_teams_below_stand_against_it_as_well(vision: Team, job: Job) -> None:
    end(job)
    Job.objects.update(is_pinned=True)
    Team.objects.create(name="ocr", parent=vision)
    pinned, below = team_deletion.reasons_against(vision)
    assert "is pinned: unpin it" in pinned
    assert "Team ocr is below it" in below


def test_processes_that_still_hold_gpus_stand_against_it(
    vision: Team, job: Job, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where they are seen only when the team is about to go."""
    run(job, workers=1)
    Job.objects.filter(pk=job.pk).update(state="completed", finished_at=timezone.now())
    url = f"/admin/tenancy/team/{vision.pk}/delete/"
    against = f"Job {job.name} ({job.pk}) ended, but its processes still hold GPUs"
    assert against in browser.get(url).content.decode()
    with pytest.raises(TeamInUse, match="still hold GPUs"):
        team_deletion.delete_team(vision)
    monkeypatch.setattr(team_deletion, "reasons_against", lambda _: [])
    for path, data in [
        (url, {"post": "yes"}),
        ("/admin/tenancy/team/", {**DELETE_SELECTED, "_selected_action": str(vision.pk)}),
    ]:
        told = browser.post(path, data, follow=True)
        assert (told.status_code, told.redirect_chain) == (200, [(path, 302)])
        assert "Processes of its jobs still hold GPUs" in told.content.decode()
        assert "successfully" not in told.content.decode()
    assert Team.objects.filter(pk=vision.pk).exists()


def test_a_team_goes_with_all_that_is_its_own_and_its_gpu_time_stays(
    vision: Team, pool: Pool, submit: SubmitJob, browser: Client, foreign_api: APIClient
) -> None:
    jobs = [submit(name=name) for name in ("a", "b")]
    for job in jobs:
        end(job)
    tokens.issue(team=vision, name="another")
    Secret.objects.create(team=vision, name="s", kind="environment", sealed=b"x", updated_by="a")
    told = browser.get(f"/admin/tenancy/team/{vision.pk}/delete/").content.decode()
    assert "2 jobs, with their logs and checkpoints" in told
    browser.post(f"/admin/tenancy/team/{vision.pk}/delete/", {"post": "yes"})
    assert not Team.objects.filter(name="vision").exists()
    assert not Job.objects.exists()
    assert not Secret.objects.exists()
    assert set(Token.objects.values_list("team__name", flat=True)) == {"language"}
    assert {one.job_id for one in Leftover.objects.all()} == {job.id for job in jobs}
    row = PastUsage.objects.get()
    assert (row.team, row.jobs, row.gpu_seconds) == ("vision", 2, 60.0)
    assert foreign_api.get("/api/v1/teams/vision").status_code == 404
