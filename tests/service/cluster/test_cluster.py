"""Are GET /cluster/utilisation and GET /cluster/summary as promised?"""

from __future__ import annotations

import itertools
from datetime import datetime, timedelta
from typing import Any

import pytest
from cluster.models import Pool, UtilisationSample
from cluster.nodes import queries
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Team

from jobs.lifecycle import JobState
from jobs.models import Job, Prediction
from jobs.queries.predictions.ageing import OLD_AFTER
from tests.service.conftest import SubmitJob, generation, run


def ago(seconds: float) -> datetime:
    """Samples of one moment have to be given the same, whenever they are written."""
    return timezone.now().replace(microsecond=0) - timedelta(seconds=seconds)


def sample(pool: Pool, team: Team, *, at: datetime, gpus: int, waiting: int = 0) -> None:
    UtilisationSample.objects.create(
        pool=pool,
        team=team,
        at=at,
        gpus=gpus,
        guaranteed_gpus=4,
        waiting_gpus=waiting,
    )


def utilisation(api: APIClient, **query: Any) -> dict[str, Any]:
    answer = api.get("/api/v1/cluster/utilisation", query)
    assert answer.status_code == 200, answer.json()
    told: dict[str, Any] = answer.json()
    return told


def test_utilisation_is_by_team_oldest_first_and_within_the_minutes_asked(
    api: APIClient, pool: Pool, vision: Team, language: Team
) -> None:
    latest = ago(60)
    sample(pool, vision, at=ago(300), gpus=1)
    sample(pool, vision, at=latest, gpus=2, waiting=3)
    sample(pool, language, at=latest, gpus=4)
    told = utilisation(api, minutes=2)
    assert (told["pool"], told["gpus_total"]) == ("default", 8)
    assert {"team": "vision", "guaranteed": 4} in told["teams"]
    (only,) = told["samples"]
    assert (only["used"], only["waiting"], only["guaranteed"]) == (
        {"vision": 2, "language": 4},
        {"vision": 3, "language": 0},
        {"vision": 4, "language": 4},
    )
    assert [one["used"]["vision"] for one in utilisation(api)["samples"]] == [1, 2]


def test_a_changed_guarantee_does_not_change_what_was_guaranteed_before(
    api: APIClient, pool: Pool, vision: Team
) -> None:
    sample(pool, vision, at=ago(60), gpus=3)
    vision.quotas.update(guaranteed_gpus=1)
    told = utilisation(api)
    assert told["teams"] == [{"team": "vision", "guaranteed": 1}]
    assert [one["guaranteed"] for one in told["samples"]] == [{"vision": 4}]


def test_many_samples_are_thinned_evenly_and_end_with_the_newest(
    api: APIClient, pool: Pool, vision: Team
) -> None:
    now = timezone.now()
    UtilisationSample.objects.bulk_create(
        UtilisationSample(
            pool=pool,
            team=vision,
            at=now - timedelta(seconds=2 * (1500 - number)),
            gpus=number,
            guaranteed_gpus=0,
        )
        for number in range(1500)
    )
    samples = utilisation(api)["samples"]
    numbers = [one["used"]["vision"] for one in samples]
    assert (len(numbers), numbers[0], numbers[-1]) == (600, 0, 1499)
    assert {after - before for before, after in itertools.pairwise(numbers)} <= {1, 2, 3}


def test_a_sample_of_this_moment_is_shown_and_none_of_another_pool(
    api: APIClient, pool: Pool, vision: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    sample(pool, vision, at=now, gpus=1)
    sample(Pool.objects.create(name="other"), vision, at=now, gpus=2)
    monkeypatch.setattr(timezone, "now", lambda: now)
    assert [one["used"] for one in utilisation(api)["samples"]] == [{"vision": 1}]


@pytest.mark.parametrize(
    ("query", "status"),
    [({"pool": "x"}, 404), ({"minutes": "0"}, 400), ({"minutes": "9999999"}, 400)],
)
def test_bad_parameters_of_utilisation(api: APIClient, query: dict[str, str], status: int) -> None:
    assert api.get("/api/v1/cluster/utilisation", query).status_code == status


def ended(job: Job, *, state: JobState, hours_ago: float, seconds: float) -> None:
    at = timezone.now() - timedelta(hours=hours_ago)
    Job.objects.filter(pk=job.pk).update(
        state=state,
        finished_at=at,
        submitted_at=at - timedelta(seconds=seconds),
        gpu_seconds=10.0,
    )


def test_the_summary_compares_with_the_time_before(
    api: APIClient, submit: SubmitJob, pool: Pool, vision: Team, language: Team
) -> None:
    for number, seconds in enumerate((10, 20, 60)):
        ended(submit(name=f"a{number}"), state=JobState.COMPLETED, hours_ago=1, seconds=seconds)
    ended(submit(name="b"), state=JobState.FAILED, hours_ago=2, seconds=5)
    ended(submit(name="c"), state=JobState.COMPLETED, hours_ago=30, seconds=100)
    running = submit(name="d")
    run(running, workers=1)
    generation(running, 1, began_at=timezone.now())
    generation(running, 2, began_at=timezone.now(), stall_seconds=0.5)
    submit(name="e")
    latest = ago(10)
    sample(pool, vision, at=latest, gpus=2)
    sample(pool, language, at=latest, gpus=2)
    told = api.get("/api/v1/cluster/summary").json()
    assert (told["completed"], told["failed"], told["cancelled"]) == (3, 1, 0)
    assert (told["running"], told["waiting"]) == (1, 1)
    assert told["mean_completion_seconds"] == pytest.approx(30)
    assert told["p50_completion_seconds"] == pytest.approx(20)
    assert told["p99_completion_seconds"] == pytest.approx(59.2)
    assert (told["rescales"], told["longest_stall_seconds"]) == (1, 0.5)
    assert told["gpu_seconds"] >= 4 * 10  # since the sample
    assert told["utilisation"] == 0.5
    assert told["previous"]["completed"] == 1
    assert told["previous"]["mean_completion_seconds"] == pytest.approx(100)


def test_gpu_time_counts_time_and_not_ticks(pool: Pool, vision: Team, language: Team) -> None:
    since = ago(1000)
    for seconds, of_vision, of_language in ((0, 2, 1), (60, 4, 0), (61, 4, 0), (62, 4, 0)):
        at = since + timedelta(seconds=seconds)
        sample(pool, vision, at=at, gpus=of_vision)
        sample(pool, language, at=at, gpus=of_language)
    told = queries.gpu_time(since=since, until=since + timedelta(seconds=120))
    assert (told.gpu_seconds, told.mean_gpus) == (3 * 60 + 4 * 60, 3.5)


def test_nobody_knows_what_was_held_while_there_were_no_ticks(pool: Pool, vision: Team) -> None:
    since = ago(86_400)
    sample(pool, vision, at=since, gpus=2)
    sample(pool, vision, at=since + timedelta(hours=10), gpus=0)
    told = queries.gpu_time(since=since, until=since + timedelta(hours=10, minutes=5))
    assert (told.gpu_seconds, told.mean_gpus) == (2 * 300, 1.0)


def test_an_empty_cluster_has_a_summary(api: APIClient) -> None:
    told = api.get("/api/v1/cluster/summary", {"hours": 1}).json()
    assert told["mean_completion_seconds"] is None
    assert told["utilisation"] == 0


@pytest.mark.parametrize("hours", ["0", "-1", "x", "nan", "1e9"])
def test_hours_are_bounded(api: APIClient, hours: str) -> None:
    assert api.get("/api/v1/cluster/summary", {"hours": hours}).status_code == 400


@pytest.mark.parametrize("path", ["utilisation", "summary"])
def test_the_cluster_needs_a_token_and_the_right_method(api: APIClient, path: str) -> None:
    assert APIClient().get(f"/api/v1/cluster/{path}").status_code == 401
    assert api.post(f"/api/v1/cluster/{path}").status_code == 405


def test_the_summary_tells_how_many_predicted_ranges_held(api: APIClient, job: Job) -> None:
    now = timezone.now()
    for held in (True, True, False):
        Prediction.objects.create(
            job=job, kind="start", made_at=now - timedelta(seconds=90), happened_at=now, held=held
        )
    told = api.get("/api/v1/cluster/summary").json()["predictions"]
    assert (told["held"], told["outcomes"], told["is_rough"]) == (2, 3, True)
    assert told["by_horizon"][1] == {"at_most_seconds": 600.0, "held": 2, "outcomes": 3}


def test_a_job_tells_when_it_will_start_and_finish_until_it_has(api: APIClient, job: Job) -> None:
    now = timezone.now()
    hours = [(now + timedelta(hours=hour)).isoformat() for hour in (1, 2)]
    span = {"p10": hours[0], "p50": hours[1], "p90": None}
    stored = {"made_at": now.isoformat(), "start": span, "finish": span}
    told = {
        **stored,
        "old_at": (now + OLD_AFTER).isoformat(),
        "lately": None,  # no range has had its outcome yet
    }
    Job.objects.filter(pk=job.pk).update(prediction=stored)

    def prediction() -> dict[str, Any] | None:
        found: dict[str, Any] | None = api.get(f"/api/v1/jobs/{job.id}").json()["prediction"]
        return found

    assert prediction() == told
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING)
    assert prediction() == {**told, "start": None}
    half_done = {"made_at": (now - timedelta(hours=1)).isoformat(), "samples_left": 1000}
    work = {"samples": 500, "total_samples": 1000}
    Job.objects.filter(pk=job.pk).update(prediction={**told, **half_done, "start": None}, **work)
    old = prediction()
    assert old is not None
    assert hours[0] < old["finish"]["p50"] < hours[1]  # of three hours then, one and a half now
    assert old["finish"]["p90"] is None
    Job.objects.filter(pk=job.pk).update(state=JobState.PAUSED)
    assert prediction() is None


@pytest.mark.parametrize("hours", ["nan", "inf", "-inf", "1e400"])
def test_a_number_that_is_none_is_refused(api: APIClient, hours: str) -> None:
    assert api.get("/api/v1/cluster/summary", {"hours": hours}).status_code == 400
