"""What does Prometheus read at `/metrics`, and what does it cost?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from cluster.models import Node, Pool, UtilisationSample
from control_plane.api.monitoring.families import FAMILIES
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from tenancy.models import Quota, Team
from webhooks import hooks
from webhooks.models import WebhookDelivery

from autoscaler.control_loop.models import Tick, TickTotal
from autoscaler.gpu_accounts.models import AccountsClock, ClosedHour
from autoscaler.planning.decisions.plan import Action
from jobs.lifecycle import JobState
from jobs.models import Job
from tests.service.conftest import SubmitJob, run
from tests.service.monitoring.scraped import scrape, scraper, series
from tests.service.usage.accounts import GPU_HOUR, account, close, line

STATEMENTS: Final = 16
HOUR: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)


def of(name: str, team: str = "vision", **labels: str) -> str:
    return series(f"concertina_{name}", pool="default", team=team, **labels)


def test_jobs_are_counted_by_pool_team_and_state(submit: SubmitJob, language: Team) -> None:
    for number in range(3):
        submit(name=f"waits-{number}")
    run(submit(name="begins"), workers=2)
    ended = submit(name="ended")
    Job.objects.filter(pk=ended.pk).update(state=JobState.COMPLETED)
    Job.objects.filter(name="waits-0").update(
        state_since=timezone.now() - timedelta(hours=2), submitted_at=timezone.now()
    )
    seen = scrape()
    assert seen[of("jobs", state="queued")] == 3
    assert seen[of("jobs", state="starting")] == 1
    assert seen[of("jobs", state="paused")] == 0
    assert of("jobs", state="completed") not in seen
    assert seen[of("jobs", "language", state="queued")] == 0
    assert seen[of("queue_longest_wait_seconds")] >= 7200
    assert seen[of("queue_longest_wait_seconds", "language")] == 0


def test_gpus_are_told_as_held_guaranteed_borrowed_lent_and_idle(
    submit: SubmitJob, language: Team, pool: Pool
) -> None:
    run(submit(), workers=4)  # of 8; 4 are guaranteed to vision, 2 to language
    Quota.objects.filter(team__name="vision").update(guaranteed_gpus=1)
    Quota.objects.filter(team=language).update(guaranteed_gpus=6)
    Node.objects.filter(name="node-2").update(is_schedulable=False)
    seen = scrape()
    assert seen[of("gpus_held")] == 4
    assert seen[of("gpus_guaranteed")] == 1
    assert seen[of("gpus_borrowed")] == 3
    assert seen[of("gpus_lent", "language")] == 2  # one of the three is guaranteed to nobody
    assert seen[of("gpus_held", "language")] == seen[of("gpus_borrowed", "language")] == 0
    of_pool = {"pool": pool.name}
    assert seen[series("concertina_gpus", **of_pool)] == 8
    assert seen[series("concertina_gpus_open", **of_pool)] == 4
    assert seen[series("concertina_gpus_idle", **of_pool)] == 4
    states = ("open", "closed", "silent")
    nodes = [seen[series("concertina_nodes", **of_pool, state=state)] for state in states]
    assert nodes == [1, 1, 0]


def test_a_guarantee_that_is_passed_on_is_counted_once(vision: Team, language: Team) -> None:
    Team.objects.filter(pk=language.pk).update(parent=vision)  # 2 of vision's 4
    seen = scrape()
    assert (seen[of("gpus_guaranteed")], seen[of("gpus_guaranteed", "language")]) == (2, 2)


def test_gpus_that_are_waited_for_are_those_of_the_last_tick(vision: Team, pool: Pool) -> None:
    sample = UtilisationSample.objects.create(
        at=HOUR, pool=pool, team=vision, gpus=0, guaranteed_gpus=4, waiting_gpus=3
    )
    AccountsClock.objects.create(pk=1, at=HOUR)
    seen = scrape()
    assert seen[of("gpus_waited_for")] == 3
    assert seen["concertina_last_tick_timestamp_seconds"] == HOUR.timestamp()
    sample.at -= timedelta(hours=1)  # a later tick had nothing to note
    sample.save()
    assert scrape()[of("gpus_waited_for")] == 0


def test_what_ticks_did_is_added_up(vision: Team) -> None:
    known = scrape()
    assert known["concertina_ticks_total"] == 0  # there from the start
    for seconds in (1.0, 0.25):
        TickTotal.add(
            seconds={"plan": seconds},
            changes=[Action.START, Action.START],
            has_alarm=True,
            refused=2,
        )
    seen = scrape()
    assert seen["concertina_ticks_total"] == seen["concertina_plan_alarms_total"] == 2
    assert seen["concertina_plans_refused_total"] == 4
    assert seen[series("concertina_decisions_total", action="start")] == 4
    assert seen[series("concertina_decisions_total", action="pause")] == 0
    assert seen[series("concertina_tick_seconds_total", part="plan")] == 1.25
    assert seen[series("concertina_last_tick_seconds", part="plan")] == 0.25
    assert seen[series("concertina_last_tick_seconds", part="observe")] == 0


def test_the_price_is_that_of_the_newest_plan(pool: Pool) -> None:
    priced = [
        {"pool": "default", "policy": "completion_time", "price": price} for price in (0.5, 0.75)
    ]
    for minutes, pools in ((2, priced[:1]), (1, priced[1:]), (0, [])):
        Tick.objects.create(
            at=HOUR - timedelta(minutes=minutes),
            fence=1,
            observe_seconds=0,
            plan_seconds=0,
            apply_seconds=0,
            pools=pools,
        )
    Pool.objects.update(unplanned_since=HOUR)
    seen = scrape()
    assert seen[series("concertina_gpu_price", pool="default", policy="completion_time")] == 0.75
    assert seen[series("concertina_pool_unplanned", pool="default")] == 1


def test_the_ledger_tells_gpu_time_by_team_and_what_it_does_not_know(pool: Pool) -> None:
    hour = timezone.now().replace(minute=0, second=0, microsecond=0) - timedelta(hours=8)
    job = account("aaaaaaaaaa", "vision", "ada")
    lines = [
        line(hour, job=job, guaranteed=2, borrowed=1, starting=0.5, stalled=0.25, lost=0.125),
        line(hour - timedelta(days=30), job=job, guaranteed=2),
        line(hour, team="language", lent=1, reserved=1),
        line(hour, idle=4),
    ]
    close(lines)
    ClosedHour.objects.exclude(hour__gte=hour - timedelta(hours=5)).delete()
    ClosedHour.objects.filter(hour=hour).update(unseen=90_000_000)
    ClosedHour.objects.filter(hour=hour - timedelta(hours=2)).delete()
    seen = scrape()
    assert seen[of("gpu_seconds_total", use="guaranteed")] == 4 * 3600
    assert seen[of("gpu_seconds_total", use="borrowed")] == 3600
    assert seen[of("gpu_seconds_total", "", use="idle")] == 4 * 3600
    assert seen[of("gpu_lent_seconds_total", "language")] == GPU_HOUR / 1e6
    assert seen[of("gpu_starting_seconds_total")] == 1800
    assert seen[of("gpu_stalled_seconds_total")] == 900
    assert seen[of("gpu_lost_seconds_total")] == 450
    assert seen["concertina_ledger_gaps"] == 2  # one that is missing, one in which nobody looked
    assert seen["concertina_ledger_unseen_seconds"] == 90
    closed = (hour + timedelta(hours=1)).timestamp()
    assert seen["concertina_ledger_closed_timestamp_seconds"] == closed


def test_messages_that_wait_and_that_nobody_took_are_counted(vision: Team) -> None:
    webhook, _ = hooks.add(
        team=vision,
        name="hook",
        url="https://example.com/",
        shape="json",
        kinds=[],
        states=[],
        by="ada",
    )
    now = timezone.now()
    for state, hours in (("waiting", 3), ("waiting", 1), ("dead", 30), ("delivered", 2)):
        made = hooks.send_test(webhook, now, service_url="https://example.com")
        at = now - timedelta(hours=hours)
        WebhookDelivery.objects.filter(pk=made.pk).update(state=state, created_at=at)
    seen = scrape()
    assert seen[series("concertina_webhook_deliveries", state="waiting")] == 2
    assert seen[series("concertina_webhook_deliveries", state="dead")] == 1
    assert 3 * 3600 <= seen["concertina_webhook_longest_wait_seconds"] < 30 * 3600


def test_a_scrape_takes_the_same_statements_however_many_jobs_teams_and_pools(
    submit: SubmitJob,
) -> None:
    submit(name="the-first")

    def statements() -> int:
        with CaptureQueriesContext(connection) as captured:
            scrape()
        return len(captured)

    assert statements() == STATEMENTS
    for number in range(5):
        submit(name=f"one-{number}", pool="default")
        pool = Pool.objects.create(name=f"pool-{number}")
        Node.objects.create(pool=pool, name=f"of-pool-{number}", gpus=2)
        team = Team.objects.create(name=f"team-{number}")
        Quota.objects.create(team=team, pool=pool, guaranteed_gpus=1)
    assert statements() == STATEMENTS


def test_labels_name_no_job_and_no_person() -> None:
    labels = {label for one in FAMILIES for label in one.labels}
    assert labels == {"pool", "team", "state", "part", "action", "policy", "use"}


@pytest.mark.django_db
def test_an_empty_installation_names_every_metric() -> None:
    told = scraper().get("/metrics").content.decode()
    for one in FAMILIES:
        assert f"# HELP {one.name} {one.meaning}\n" in told
        assert f"# TYPE {one.name} {'counter' if one.only_grows else 'gauge'}\n" in told
