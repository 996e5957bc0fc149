"""Is GET /jobs as promised?"""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from control_plane.web.answers.json_answers import FiniteJsonRenderer
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from jobs.models import Assignment, Generation, Job
from jobs.queries.listing import rows
from jobs.queries.listing.pages import JobOrder
from tests.service.conftest import SubmitJob, run, spec

URL = "/api/v1/jobs"
NOW: Final = datetime(2026, 11, 1, 12, tzinfo=UTC)


def test_a_team_sees_its_own_jobs_only(api: APIClient, foreign_api: APIClient, job: Job) -> None:
    foreign_api.post(URL, spec(name="secret"), format="json")
    assert [one["name"] for one in api.get(URL).json()["items"]] == ["digits"]


def test_an_admin_sees_all_jobs_and_a_member_those_of_their_teams(
    foreign_api: APIClient, job: Job, admin_user: User, language: Team
) -> None:
    foreign_api.post(URL, spec(name="secret"), format="json")
    member = User.objects.create_user("ada")
    Membership.objects.create(team=language, user=member)
    names = {}
    for user in (admin_user, member):
        client = APIClient()
        client.force_login(user)
        names[user.username] = {one["name"] for one in client.get(URL).json()["items"]}
    assert names == {"root": {"digits", "secret"}, "ada": {"secret"}}


def test_pages_go_on_where_the_last_one_ended_whatever_arrives(
    api: APIClient, submit: SubmitJob
) -> None:
    for number in range(5):
        submit(name=f"job-{number}")
    seen, cursor = [], ""
    for _ in range(3):
        page = api.get(URL, {"limit": 2, "cursor": cursor}).json()
        seen += [one["name"] for one in page["items"]]
        cursor = page["next_cursor"]
        submit(name=f"late-{len(seen)}")
    assert seen == ["job-4", "job-3", "job-2", "job-1", "job-0"]
    assert cursor is None


def test_what_ended_last_comes_first_and_what_lives_not_at_all(
    api: APIClient, submit: SubmitJob
) -> None:
    now = timezone.now()
    for number, seconds_ago in enumerate((30, 10, 20, 10, 40)):
        job = submit(name=f"ended-{number}")
        Job.objects.filter(pk=job.pk).update(
            state="completed", finished_at=now - timedelta(seconds=seconds_ago)
        )
    submit(name="live")
    seen, cursor = [], ""
    for _ in range(3):
        page = api.get(URL, {"limit": 2, "cursor": cursor, "order": "finished"}).json()
        seen += [one["name"] for one in page["items"]]
        cursor = page["next_cursor"]
    assert sorted(seen[:2]) == ["ended-1", "ended-3"]
    assert seen[2:] == ["ended-2", "ended-0", "ended-4"]
    assert cursor is None


def test_by_what_is_recent_those_that_live_come_before_those_that_ended(
    api: APIClient, submit: SubmitJob
) -> None:
    now = timezone.now()
    ages = {"old": (9, None), "new": (1, None), "last": (8, 2), "first": (7, 5), "with-it": (6, 5)}
    for name, (submitted, finished) in ages.items():
        Job.objects.filter(pk=submit(name=name).pk).update(
            state="completed" if finished else "running",
            submitted_at=now - timedelta(minutes=submitted),
            finished_at=finished and now - timedelta(minutes=finished),
        )
    recent = {"order": "recent", "limit": 1, "cursor": ""}
    seen = []
    for _ in ages:
        page = api.get(URL, recent).json()
        (one,) = page["items"]
        seen.append(one["name"])
        recent["cursor"] = page["next_cursor"]
    assert seen == ["new", "old", "last", "with-it", "first"]
    assert recent["cursor"] is None
    since = (now - timedelta(minutes=3)).isoformat()
    ended = api.get(URL, {"order": "recent", "since": since}).json()["items"]
    assert [one["name"] for one in ended] == ["last"]


def test_a_cursor_of_another_order_is_refused(api: APIClient, submit: SubmitJob) -> None:
    for number in range(3):
        submit(name=f"job-{number}")
    Job.objects.update(state="completed", finished_at=timezone.now())
    orders = ("submitted", "finished", "recent")
    cursors = {
        order: api.get(URL, {"limit": 1, "order": order}).json()["next_cursor"] for order in orders
    }
    for order in orders:
        for made, cursor in cursors.items():
            answer = api.get(URL, {"limit": 1, "order": order, "cursor": cursor})
            assert answer.status_code == (200 if made == order else 400)


def test_a_waiting_job_tells_its_position_and_one_that_got_its_turn_none(
    api: APIClient, job: Job
) -> None:
    def position() -> int | None:
        (one,) = api.get(URL).json()["items"]
        assert one["position"] is None or isinstance(one["position"], int)
        return one["position"]  # type: ignore[no-any-return]  # JSON

    assert position() is None
    jobs = Job.objects.filter(pk=job.pk)
    jobs.update(explanation={"action": "wait", "explanation": {"position": 3}})
    assert position() == 3
    jobs.update(state="starting")
    assert position() is None


def test_jobs_are_found_by_state_name_label_and_id(api: APIClient, submit: SubmitJob) -> None:
    one = submit(name="resnet", labels={"paper": "icml27"})
    two = submit(name="bert")
    api.post(f"{URL}/{two.id}/pause")

    def found(**query: str) -> list[str]:
        return [job["name"] for job in api.get(URL, query).json()["items"]]

    assert found(state="queued") == ["resnet"]
    assert found(state="queued,paused") == ["bert", "resnet"]
    assert found(search="RES") == ["resnet"]
    assert found(search="icml") == ["resnet"]
    assert found(search=one.id) == ["resnet"]
    assert found(team="language") == []
    assert found(search="", state="", team="") == ["bert", "resnet"]


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"state": "sleeping"}, "state"),
        ({"limit": "0"}, "limit"),
        ({"limit": "100000"}, "limit"),
        ({"limit": "many"}, "limit"),
        ({"search": "a\0b"}, "search"),
    ],
)
def test_a_bad_parameter_is_named(api: APIClient, query: dict[str, str], field: str) -> None:
    answer = api.get(URL, query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_request")
    assert answer.json()["details"][0]["field"] == field


AT_THE_EDGE_OF_TIME = [
    "0001-01-01T00:00:00+23:59 a",
    "9999-12-31T23:59:59-23:59 a",
    "2026-01-01T00:00:00+00:00 \0",
]


@pytest.mark.parametrize(
    "cursor",
    [
        *("!!!", "YWJj", "MjAyNi0wMS0wMSBh", "w6k="),
        *(base64.urlsafe_b64encode(text.encode()).decode() for text in AT_THE_EDGE_OF_TIME),
    ],
)
def test_a_cursor_nobody_gave_is_refused(api: APIClient, cursor: str) -> None:
    answer = api.get(URL, {"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_cursor")


def test_a_list_of_running_jobs_takes_few_statements(
    api: APIClient, submit: SubmitJob, django_assert_max_num_queries: pytest.FixtureRequest
) -> None:
    for number in range(8):
        job = submit(name=f"job-{number}")
        if not number:
            run(job, workers=2)
    with django_assert_max_num_queries(5):  # type: ignore[operator]  # a callable fixture
        items = api.get(URL).json()["items"]
    assert items[-1]["workers_desired"] == 2


def test_a_job_whose_numbers_have_no_finite_end_is_listed_beside_the_others(
    api: APIClient, submit: SubmitJob
) -> None:
    """So slow that its end is infinitely far, and with a noise that was stored as infinite."""
    endless, other = submit(name="endless"), submit(name="other")
    Job.objects.filter(pk=endless.pk).update(
        state="running",
        total_samples=9 * 10**18,
        samples=1,
        samples_per_second=1e-300,
        epoch=1e308,
        noise_scale=float("inf"),
    )
    answer = api.get(URL)
    assert answer.status_code == 200
    listed = {one["id"]: one for one in answer.json()["items"]}
    assert set(listed) == {endless.id, other.id}
    unknown = ("eta_seconds", "noise_scale", "total_epochs")
    assert [listed[endless.id][name] for name in unknown] == [None, None, None]


def test_a_number_that_is_not_finite_becomes_null_and_the_answer_is_given() -> None:
    answer = {"a": [float("nan"), 1.5], "b": {"c": float("-inf")}, "d": "text"}
    written = json.loads(FiniteJsonRenderer().render(answer))
    assert written == {"a": [None, 1.5], "b": {"c": None}, "d": "text"}


def test_a_cursor_of_an_odd_time_zone_is_read(api: APIClient, job: Job) -> None:
    cursor = base64.urlsafe_b64encode(b"2126-01-01T00:00:00+00:00:01.5 a").decode()
    assert [one["id"] for one in api.get(URL, {"cursor": cursor}).json()["items"]] == [job.id]


def test_a_page_is_read_in_the_order_of_an_index_not_sorted_from_all_jobs(vision: Team) -> None:
    jobs = Job.objects.filter(team__in=[vision.pk, vision.pk + 1])
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute("SET LOCAL enable_bitmapscan = off")
    plan = rows.first_of(jobs, order=JobOrder.SUBMITTED.columns, most=51).explain()
    assert "newest_jobs_first" in plan
    assert "Sort Key" not in plan
    ended = jobs.filter(finished_at__isnull=False)
    plan = rows.first_of(ended, order=JobOrder.FINISHED.columns, most=51).explain()
    assert "Presorted Key: " in plan, "only those that ended at the same moment are sorted"
    plan = rows.first_of(jobs, order=JobOrder.RECENT.columns, most=51).explain()
    assert "Presorted Key: " in plan, "only those that live, or ended at the same moment, are"


def test_a_list_reads_neither_whole_documents_nor_anything_for_each_job(
    api: APIClient, submit: SubmitJob
) -> None:
    def statements() -> list[str]:
        with CaptureQueriesContext(connection) as asked:
            api.get(URL)
        return [one["sql"] for one in asked]

    submit(name="a")
    of_one = statements()
    for name in ("b", "c"):
        submit(name=name)
    of_three = statements()
    assert len(of_three) == len(of_one)
    (of_jobs,) = [sql for sql in of_three if '"jobs_job"."labels"' in sql]
    for document in ("spec", "resolved_spec", "explanation", "explanation_for_admins", "remedy"):
        assert f'"jobs_job"."{document}",' not in of_jobs


def test_a_job_is_shown_in_a_list_as_it_is_alone(api: APIClient, submit: SubmitJob) -> None:
    made = {state: submit(name=state) for state in ("queued", "running", "completed")}
    for state, job in made.items():
        told = {"action": "wait" if state == "queued" else "keep", "workers": 1}
        Job.objects.filter(pk=job.pk).update(
            state=state,
            explanation={**told, "explanation": {"position": 3, "claim": "x" * 5000}},
            revision=1,
            labels={"of": state},
            batch_limits={job.pool.gpu_type: 8},
            samples=10,
            total_samples=100,
            noise_scale=2.0,
            first_noise_scale=1.0,
            prediction={}
            if state == "queued"
            else {"made_at": NOW.isoformat(), "start": None, "finish": None},
        )
        Assignment.objects.create(
            job=job, revision=1, attempt=1, worker_ids=["a", "b"], global_batch_size=64
        )
        for number, ended_at in ((1, NOW + timedelta(seconds=90)), (2, None)):
            Generation.objects.create(
                job=job,
                number=number,
                revision=1,
                attempt=1,
                workers=2,
                worker_ids=["a", "b"],
                global_batch_size=32,
                began_at=NOW,
                ended_at=ended_at,
                stall_seconds=number,
            )
    listed = {one["name"]: one for one in api.get(URL).json()["items"]}
    for state, job in made.items():
        alone = api.get(f"{URL}/{job.pk}").json()
        ages = {"trained_seconds"}  # of a generation that goes on
        assert {name: alone[name] for name in listed[state] if name not in ages} == {
            name: value for name, value in listed[state].items() if name not in ages
        }
    assert listed["queued"]["position"] == 3
    assert listed["running"]["workers_desired"] == 1
    assert (listed["running"]["workers"], listed["running"]["stall_seconds"]) == (2, 3.0)


@pytest.mark.parametrize("broken", [{}, {"elastic": {"max_workers": "many"}, "batch": 7}])
def test_a_job_whose_spec_cannot_be_read_is_listed_as_others_are(
    api: APIClient, job: Job, submit: SubmitJob, broken: dict[str, object]
) -> None:
    submit(name="other")
    Job.objects.filter(pk=job.pk).update(resolved_spec=broken)
    listed = api.get(URL).json()["items"]
    assert [one["name"] for one in listed] == ["other", "digits"]
    assert api.get(f"{URL}/{job.id}").json()["name"] == "digits"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"user": "ada"}, ["c", "a"]),
        ({"user": "nobody"}, []),
        ({"pool": "default"}, ["c", "b", "a"]),
        ({"pool": "elsewhere"}, []),
        ({"label": "net=resnet"}, ["c", "a"]),
        ({"label": ["net=resnet", "lr=0.1"]}, ["a"]),
        ({"label": "lr"}, ["b", "a"]),
        ({"label": "a=b=c"}, ["b"]),
        ({"label": "net=res"}, []),
        ({"label": ["", "lr=0.1"]}, ["a"]),
        ({"since": "2026-11-01T12:01:00Z"}, ["c", "b"]),
        ({"until": "2026-11-01T12:01:00Z"}, ["a"]),
        ({"order": "finished", "since": "2026-11-01T12:30:00+00:00"}, ["a"]),
        ({"user": "ada", "label": "lr", "count": "true"}, ["a"]),
    ],
)
def test_each_filter_narrows_the_list(
    api: APIClient,
    submit: SubmitJob,
    asked: dict[str, str | list[str]],
    expected: list[str],
) -> None:
    labels = {
        "a": {"net": "resnet", "lr": "0.1"},
        "b": {"lr": "0.2", "a": "b=c"},
        "c": {"net": "resnet"},
    }
    for minute, (name, own) in enumerate(labels.items()):
        job = submit(name=name, labels=own)
        Job.objects.filter(pk=job.pk).update(
            submitted_by="grace" if name == "b" else "ada",
            submitted_at=NOW + timedelta(minutes=minute),
            finished_at=NOW + timedelta(hours=1) if name == "a" else None,
        )
    page = api.get(URL, asked).json()
    assert [one["name"] for one in page["items"]] == expected
    assert page["total"] == (len(expected) if "count" in asked else None)


def test_all_jobs_are_counted_whatever_the_page_shows(api: APIClient, submit: SubmitJob) -> None:
    for number in range(3):
        submit(name=f"job-{number}")
    first = api.get(URL, {"limit": 2, "count": "true"}).json()
    rest = api.get(URL, {"limit": 2, "count": "true", "cursor": first["next_cursor"]}).json()
    assert [(len(page["items"]), page["total"]) for page in (first, rest)] == [(2, 3), (1, 3)]


@pytest.mark.parametrize(
    "asked",
    [
        {"label": [f"name-{number}" for number in range(9)]},
        {"label": "a=" + "x" * 4300},
        {"label": "a\0"},
        {"user": "x" * 201},
        {"pool": "x" * 201},
        {"since": "yesterday"},
        {"until": "soon"},
        {"count": "perhaps"},
    ],
)
def test_a_filter_out_of_bounds_is_refused_by_name(
    api: APIClient, asked: dict[str, str | list[str]]
) -> None:
    answer = api.get(URL, asked)
    assert answer.status_code == 400
    assert next(iter(asked)) in answer.content.decode()


@pytest.mark.parametrize(
    "url", ["/api/v1/teams", "/api/v1/teams/vision/standing", "/api/v1/live?read=/api/v1/teams"]
)
def test_what_is_asked_by_one_parameter_knows_no_other(api: APIClient, url: str) -> None:
    answer = api.get(f"{url}{'&' if '?' in url else '?'}pol=main")
    assert answer.status_code == 400
    assert [one["field"] for one in answer.json()["details"]] == ["pol"]


def test_a_misspelt_parameter_is_refused_and_not_taken_for_everything(
    api: APIClient, job: Job
) -> None:
    answer = api.get(URL, {"stat": "running", "foo": "1", "team": ""})
    assert answer.status_code == 400
    said = {one["field"]: one["problem"] for one in answer.json()["details"]}
    assert set(said) == {"stat", "foo"}
    assert said["stat"] == "This is no parameter here. Did you mean state?"
    assert said["foo"].startswith("This is no parameter here. Use: team, state, pool, ")
