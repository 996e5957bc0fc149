"""`depends_on`: which jobs it may name, what is stored, and what is shown of it."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries
from rest_framework.test import APIClient
from tenancy.models import Membership, Team

from jobs.commands.removal import job_deletion
from jobs.lifecycle import JobState
from jobs.models import Dependency, Event, Job, JobArray
from tests.service.conftest import SubmitJob, run, spec

URL = "/api/v1/jobs"


def post(api: APIClient, **changes: Any) -> Any:
    return api.post(URL, spec(**changes), format="json")


def bulk(api: APIClient, *jobs: dict[str, Any]) -> Any:
    return api.post(f"{URL}:bulk", {"jobs": [*jobs]}, format="json")


def refused(answer: Any) -> dict[str, str]:
    """What is wrong, by field."""
    assert answer.status_code == 422, answer.json()
    return {one["field"]: one["problem"] for one in answer.json()["details"]}


def end(job: Job, state: JobState) -> None:
    Job.objects.filter(pk=job.pk).update(state=state)


def shown(api: APIClient, job: Job) -> Any:
    answer = api.get(f"{URL}/{job.id}/dependencies")
    assert answer.status_code == 200
    return answer.json()


def test_jobs_are_named_by_id_or_name_and_stored_by_id(api: APIClient, submit: SubmitJob) -> None:
    first, second = submit(name="first"), submit(name="second")
    entries = [first.id, {"job": "second", "when": "any"}]
    third = submit(name="third", depends_on=entries)
    assert third.spec["depends_on"] == entries
    assert third.resolved_spec["depends_on"] == [
        {"job": first.id, "when": "ok"},
        {"job": second.id, "when": "any"},
    ]
    there = {"state": "queued", "ended_as": ""}
    assert shown(api, third) == {
        "waits_for": [
            {"job_id": first.id, "name": "first", "when": "ok", **there},
            {"job_id": second.id, "name": "second", "when": "any", **there},
        ],
        "awaited_by": [],
        "awaited_by_total": 0,
    }
    waits = {"job_id": third.id, "name": "third", "when": "ok", **there}
    assert shown(api, first) == {"waits_for": [], "awaited_by": [waits], "awaited_by_total": 1}


def test_of_several_jobs_of_a_name_the_newest_is_meant(submit: SubmitJob) -> None:
    old = submit(name="first")
    end(old, JobState.COMPLETED)
    new = submit(name="first")
    after = submit(name="after", depends_on=["first"])
    assert after.resolved_spec["depends_on"][0]["job"] == new.id


def test_a_foreign_job_and_an_unknown_one_get_the_same_answer(
    api: APIClient, foreign_api: APIClient
) -> None:
    foreign = post(foreign_api, name="theirs").json()
    names = ("theirs", foreign["id"], "nobody")
    said = [refused(post(api, depends_on=[name])) for name in names]
    assert said == [
        {"depends_on[0]": "is neither the id nor the name of a job of team vision"} for _ in names
    ]


def test_a_job_does_not_wait_for_itself_nor_twice_for_another(
    api: APIClient, submit: SubmitJob
) -> None:
    submit(name="first")
    assert refused(post(api, depends_on=["digits"])) == {"depends_on[0]": "is the job itself"}
    twice = refused(post(api, depends_on=["first", {"job": "first", "when": "any"}]))
    assert twice == {"depends_on": "names first twice"}
    assert "depends_on[0].when" in refused(post(api, depends_on=[{"job": "first", "when": "no"}]))
    assert "depends_on" in refused(post(api, depends_on=[f"j{n}" for n in range(101)]))
    assert "depends_on[0]" in refused(post(api, depends_on=[5]))


def test_an_id_and_a_name_of_the_same_job_are_not_both_named(
    api: APIClient, submit: SubmitJob
) -> None:
    first = submit(name="first")
    twice = refused(post(api, depends_on=["first", first.id]))
    said = f"is job first ({first.id}), which first means as well"
    assert twice == {"depends_on[1]": said}


def test_how_a_job_ended_is_known_though_it_is_deleted_while_another_is_submitted_after_it(
    submit: SubmitJob,
) -> None:
    first = submit(name="first")
    end(first, JobState.COMPLETED)
    after = submit(name="after", depends_on=["first"])
    Job.objects.filter(pk=first.pk).delete()  # who deleted it did not see the other one yet
    assert Dependency.objects.get(job=after).ended_as == "completed"


@pytest.mark.parametrize(
    ("state", "when"), [("failed", "ok"), ("cancelled", "ok"), ("completed", "failed")]
)
def test_who_has_ended_the_wrong_way_is_not_waited_for(
    api: APIClient, submit: SubmitJob, state: str, when: str
) -> None:
    first = submit(name="first")
    end(first, JobState(state))
    (problem,) = refused(post(api, depends_on=[{"job": "first", "when": when}])).values()
    assert problem == (
        f"has ended already: job first ({first.id}) is {state}, and was to end as `{when}`"
    )
    assert post(api, depends_on=[{"job": "first", "when": "any"}]).status_code == 201


def test_jobs_of_a_bulk_may_wait_for_each_other_in_any_order(
    api: APIClient, submit: SubmitJob
) -> None:
    old = submit(name="first")
    end(old, JobState.COMPLETED)
    answer = bulk(
        api,
        spec(name="last", depends_on=["middle", "first"]),
        spec(name="middle", depends_on=["first"]),
        spec(name="first"),
    )
    assert answer.status_code == 201, answer.json()
    last, middle, first = (Job.objects.get(pk=one["id"]) for one in answer.json()["items"])
    assert [one["job"] for one in last.resolved_spec["depends_on"]] == [middle.id, first.id]
    assert {one["job_id"] for one in shown(api, first)["awaited_by"]} == {last.id, middle.id}
    assert first.id != old.id


def test_a_circle_in_a_bulk_is_refused_and_named(api: APIClient) -> None:
    answer = bulk(
        api,
        spec(name="apart"),
        spec(name="a", depends_on=["b"]),
        spec(name="b", depends_on=["c"]),
        spec(name="c", depends_on=["a", "apart"]),
    )
    (found,) = refused(answer).items()
    assert found == ("jobs[1].depends_on", "waits for itself: a waits for b for c for a")
    assert not Job.objects.exists()


def test_a_wide_bulk_takes_as_many_statements_as_a_narrow_one(
    api: APIClient, submit: SubmitJob
) -> None:
    submit(name="before")

    def statements(jobs: int) -> int:
        names = [f"j{jobs}-{number}" for number in range(jobs)]
        specs = [
            spec(name=name, depends_on=["before", *names[:number]])
            for number, name in enumerate(names)
        ]
        with CaptureQueriesContext(connection) as made:
            assert bulk(api, *specs).status_code == 201
        return len(made)

    assert statements(2) == statements(20)
    assert Dependency.objects.count() == sum(range(1, 3)) + sum(range(1, 21))


def test_the_entries_of_a_call_are_bounded(api: APIClient, vision: Team) -> None:
    Team.objects.update(max_queued_jobs=500)
    wide = [f"first-{number}" for number in range(100)]
    jobs = [*({"name": name, "command": ["a"]} for name in wide)]
    jobs += [
        {"name": f"then-{number}", "command": ["a"], "depends_on": wide} for number in range(101)
    ]
    found = refused(bulk(api, *jobs))
    assert found["jobs[100].depends_on"] == "is one of lists with 10100 entries in one call"


def test_a_job_runs_again_though_what_it_waited_for_was_deleted_since(
    api: APIClient, submit: SubmitJob
) -> None:
    first, second = submit(name="first"), submit(name="second")
    after = submit(name="after", depends_on=["first", "second"])
    for job in (first, second, after):
        end(job, JobState.COMPLETED)
    job_deletion.delete(job_id=first.id)
    answer = api.post(f"{URL}/{after.id}/rerun", {}, format="json")
    assert answer.status_code == 201, answer.json()
    again = Job.objects.get(pk=answer.json()["id"])
    assert again.resolved_spec["depends_on"] == [{"job": second.id, "when": "ok"}]


def test_what_a_deleted_job_ended_as_is_shown(api: APIClient, submit: SubmitJob) -> None:
    first = submit(name="first")
    after = submit(name="after", depends_on=["first"])
    end(first, JobState.COMPLETED)
    job_deletion.delete(job_id=first.id)
    (one,) = shown(api, after)["waits_for"]
    assert (one["name"], one["state"], one["ended_as"]) == ("first", "", "completed")


def test_it_is_read_in_few_statements(
    api: APIClient, submit: SubmitJob, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    first = submit(name="first")
    for number in range(3):
        submit(name=f"after-{number}", depends_on=["first"])
    shown(api, first)
    with django_assert_max_num_queries(6):
        shown(api, first)


def chain(submit: SubmitJob) -> tuple[Job, Job, Job, Job]:
    first = submit(name="first")
    second = submit(name="second", depends_on=["first"])
    third = submit(name="third", depends_on=[{"job": "second", "when": "any"}])
    return first, second, third, submit(name="apart")


def states(*jobs: Job) -> list[str]:
    by_id = dict(Job.objects.values_list("id", "state"))
    return [by_id[job.id] for job in jobs]


def test_a_tree_is_cancelled_at_once_and_nothing_beside_it(
    api: APIClient, submit: SubmitJob
) -> None:
    jobs = chain(submit)
    run(jobs[0], workers=1)
    answer = api.post(f"{URL}/{jobs[0].id}/cancel?tree=true", {"reason": "wrong"}, format="json")
    assert (answer.status_code, answer.json()["state"]) == (202, "stopping")
    assert states(*jobs) == ["stopping", "cancelled", "cancelled", "queued"]
    third = Job.objects.get(pk=jobs[2].pk)
    assert (third.reason, third.finished_at is not None) == ("cancelled_by_user", True)
    assert third.message == "Cancelled by vision/ci: wrong."
    event = Event.objects.filter(job=third).latest("id")
    assert (event.old_state, event.new_state) == ("queued", "cancelled")


def test_without_tree_others_stay_and_with_it_a_tree_outlives_its_root(
    api: APIClient, submit: SubmitJob
) -> None:
    jobs = chain(submit)
    api.post(f"{URL}/{jobs[0].id}/cancel", {}, format="json")
    assert states(*jobs) == ["cancelled", "queued", "queued", "queued"]
    again = api.post(f"{URL}/{jobs[0].id}/cancel?tree=true", {}, format="json")
    assert again.status_code == 202
    assert states(*jobs) == ["cancelled", "cancelled", "cancelled", "queued"]
    nothing = api.post(f"{URL}/{jobs[0].id}/cancel?tree=true", {}, format="json")
    assert (nothing.status_code, nothing.json()["code"]) == (409, "illegal_transition")


def test_a_large_tree_takes_as_many_statements_as_a_small_one(
    api: APIClient, submit: SubmitJob
) -> None:
    def statements(width: int) -> int:
        root = submit(name=f"root-{width}")
        for number in range(width):
            submit(name=f"leaf-{width}-{number}", depends_on=[root.id])
        with CaptureQueriesContext(connection) as made:
            api.post(f"{URL}/{root.id}/cancel?tree=true", {}, format="json")
        assert not Job.objects.filter(name__contains=f"-{width}", state="queued").exists()
        return len(made)

    assert statements(2) == statements(9)


def test_of_a_tree_with_somebody_elses_jobs_nothing_is_cancelled(
    api: APIClient, vision: Team
) -> None:
    person = User.objects.create_user("ada")
    Membership.objects.create(user=person, team=vision, role=Membership.Role.MEMBER)
    hers = APIClient()
    hers.force_login(person)
    mine = post(hers, name="mine").json()
    theirs = post(api, name="theirs", depends_on=["mine"]).json()
    answer = hers.post(f"{URL}/{mine['id']}/cancel?tree=true", {}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (403, "permission_denied")
    assert f"theirs ({theirs['id']})" in answer.json()["message"]
    assert set(Job.objects.values_list("state", flat=True)) == {"queued"}


def array(api: APIClient, name: str, jobs: int) -> str:
    """Submit an array, and return its id."""
    body = spec(name=name, seed="{{seed}}", array={"parameters": {"seed": f"1..{jobs}"}})
    answer = api.post(f"{URL}:bulk", {"spec": body}, format="json")
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["array"])


def test_all_jobs_of_an_array_are_waited_for(api: APIClient, submit: SubmitJob) -> None:
    old, new = array(api, "other", 1), array(api, "tried", 3)
    after = submit(depends_on=[{"array": "tried", "when": "any"}, {"array": old}])
    assert after.resolved_spec["depends_on"] == [
        {"array": new, "when": "any"},
        {"array": old, "when": "ok"},
    ]
    waits = shown(api, after)["waits_for"]
    found = [(one["name"], one["when"]) for one in waits]
    assert found == [*((f"tried-{number}", "any") for number in (1, 2, 3)), ("other-1", "ok")]
    again = api.post(f"{URL}/{after.id}/rerun", {"name": "again"}, format="json")
    assert again.status_code == 201, again.json()
    assert again.json()["resolved_spec"]["depends_on"] == after.resolved_spec["depends_on"]
    assert Dependency.objects.filter(job=again.json()["id"]).count() == 4


def test_what_waited_for_an_array_runs_again_once_that_is_gone(
    api: APIClient, submit: SubmitJob
) -> None:
    array(api, "tried", 2)
    after = submit(depends_on=[{"array": "tried"}])
    url = f"{URL}/{after.id}/rerun"
    Job.objects.filter(pk=after.pk).update(state=JobState.COMPLETED)
    for name, state in (("tried-1", JobState.COMPLETED), ("tried-2", JobState.FAILED)):
        Job.objects.filter(name=name).update(state=state)
        job_deletion.delete(job_id=Job.objects.get(name=name).pk)
    JobArray.objects.all().delete()
    said = "is neither the id nor the name of an array of team vision"
    assert refused(api.post(url, {}, format="json")) == {"depends_on[0]": said}
    Dependency.objects.update(ended_as=JobState.COMPLETED)
    again = api.post(url, {}, format="json")
    assert again.status_code == 201, again.json()
    assert again.json()["resolved_spec"]["depends_on"] == []


def test_an_array_is_named_once(api: APIClient) -> None:
    tried = array(api, "tried", 1)
    found = refused(post(api, depends_on=[{"array": "tried"}, {"array": tried, "when": "any"}]))
    assert found == {"depends_on[1]": f"is array {tried}, which tried means as well"}


def test_an_array_of_which_a_job_ended_the_wrong_way_is_not_waited_for(api: APIClient) -> None:
    tried = array(api, "tried", 2)
    Job.objects.filter(name="tried-2").update(state=JobState.FAILED)
    (problem,) = refused(post(api, depends_on=[{"array": tried}])).values()
    assert problem.startswith("has jobs that ended already: tried-2 (")
    assert post(api, depends_on=[{"array": tried, "when": "any"}]).status_code == 201


def test_arrays_are_named_right(api: APIClient, foreign_api: APIClient, submit: SubmitJob) -> None:
    submit(name="alone")
    foreign = array(foreign_api, "theirs", 1)
    for word in ("alone", foreign, "theirs", "nobody"):
        found = refused(post(api, depends_on=[{"array": word}]))
        said = "is neither the id nor the name of an array of team vision"
        assert found == {"depends_on[0]": said}
    both = refused(post(api, depends_on=[{"array": "a", "job": "b"}, {"when": "ok"}]))
    said = "names not exactly one of job and array"
    assert both == {"depends_on[0]": said, "depends_on[1]": said}
    twice = refused(post(api, depends_on=[{"array": "a"}, {"array": "a", "when": "any"}]))
    assert twice == {"depends_on": "names a twice"}
    many = refused(post(api, depends_on=[{"array": f"a{n}"} for n in range(21)]))
    assert many == {"depends_on": "is one of lists that name 21 arrays in one call"}


def test_what_a_call_waits_for_is_bounded_with_the_jobs_of_arrays(api: APIClient) -> None:
    tried = array(api, "tried", 250)
    jobs = [spec(name=f"after-{n}", depends_on=[{"array": tried}]) for n in range(41)]
    found = refused(bulk(api, *jobs))
    assert "10250 entries" in found["jobs[0].depends_on"]
    assert not Dependency.objects.exists()
