"""Are those told whom a job names, of what it names, and of nothing else?"""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient
from tenancy.models import Team
from webhooks.models import WebhookDelivery
from webhooks.named import occasion_of

from jobs.admission.team_records import TeamRecords
from jobs.models import Event, Job
from tests.service.conftest import SubmitJob, spec
from tests.service.webhooks.conftest import add, fill

PLACE = "https://example.com/hook"


def moved(old: str, new: str, **more: Any) -> dict[str, Any]:
    return {"kind": "state_changed", "old_state": old, "new_state": new, **more}


def rescaled(before: int, after: int) -> dict[str, Any]:
    return moved("running", "rescaling", data={"workers": {"from": before, "to": after}})


@pytest.mark.parametrize(
    ("event", "occasion"),
    [
        (moved("starting", "running"), "started"),
        (moved("rescaling", "running"), None),
        (moved("stopping", "completed"), "completed"),
        (moved("stopping", "failed"), "failed"),
        (moved("stopping", "paused"), "paused"),
        (moved("running", "stopping", data={"gives_way": True}), "paused"),
        (moved("running", "stopping"), None),
        (moved("stopping", "queued"), None),
        (moved("stopping", "cancelled"), None),
        (rescaled(3, 2), "shrunk"),
        (rescaled(2, 3), None),
        (rescaled(2, 2), None),
        (moved("running", "rescaling"), None),
        ({"kind": "idle"}, "idle"),
        ({"kind": "deadline_at_risk"}, "deadline_at_risk"),
        ({"kind": "busy_again"}, None),
        ({"kind": "of another release"}, None),
    ],
)
def test_what_happens_is_an_occasion_or_none(event: dict[str, Any], occasion: str | None) -> None:
    assert occasion_of(Event(**event)) == occasion


def told() -> list[tuple[str, str]]:
    while fill():
        pass
    rows = WebhookDelivery.objects.select_related("webhook").order_by("event_id", "webhook__name")
    return [(row.webhook.name, row.kind) for row in rows]


def test_a_job_has_those_told_whom_it_names(vision: Team, job: Job, submit: SubmitJob) -> None:
    for name in ("mine", "of-others"):
        add(vision, PLACE, name=name, is_on_request=True)
    add(None, PLACE, name="everything")
    add(vision, PLACE, name="losses", kinds=["work_lost"])
    named = submit(name="named", notify={"to": ["mine", "losses"], "on": ["idle"]})
    Event.objects.all().delete()
    for one in (named, job):
        for kind in ("idle", "busy_again"):
            Event.objects.create(job=one, kind=kind)
    assert told() == [
        *[("everything", "idle"), ("losses", "idle"), ("mine", "idle")],
        ("everything", "busy_again"),
        *[("everything", "idle"), ("everything", "busy_again")],
    ]


def test_however_many_jobs_name_somebody_one_statement_more_finds_them(
    vision: Team, submit: SubmitJob, django_assert_max_num_queries: Any
) -> None:
    add(vision, PLACE, name="mine", is_on_request=True)
    jobs = [submit(name=f"job-{number}", notify={"to": ["mine"]}) for number in range(3)]
    fill()
    for job in jobs * 3:
        Event.objects.create(job=job, **moved("stopping", "failed"))
    with django_assert_max_num_queries(16):  # savepoints included
        fill()
    assert told() == [("mine", "state_changed")] * 9


def test_only_what_tells_of_the_teams_jobs_can_be_named(vision: Team) -> None:
    above = Team.objects.create(name="research")
    Team.objects.filter(pk=vision.pk).update(parent=above)
    other = Team.objects.create(name="language")
    for team in (vision, above, other, None):
        add(team, PLACE, name=f"of-{team}".lower())
    names = TeamRecords(Team.objects.get(pk=vision.pk)).notification_targets
    assert {*names} == {"of-vision", "of-research", "of-none"}


def test_a_spec_that_names_nobody_known_is_refused(vision: Team, api: APIClient) -> None:
    add(vision, PLACE, name="alarms")
    notify = {"to": ["alarms", "nobody"]}
    answer = api.post("/api/v1/jobs", spec(notify=notify), format="json")
    assert answer.status_code == 422
    (problem,) = answer.json()["details"]
    assert (problem["field"], problem["value"]) == ("notify.to[1]", "nobody")
    assert problem["remedy"] == "Use one of: alarms."
