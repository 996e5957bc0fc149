"""Do jobs start once those have ended that they wait for, and end if that was in vain?"""

from __future__ import annotations

from datetime import timedelta

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from jobs.commands import control
from jobs.commands.removal import job_deletion
from jobs.models import Dependency, Job
from tests.control_loop.world import World, fresh, kinds


def after(world: World, name: str, *others: Job, when: str = "ok") -> Job:
    """A job that waits for others, and would start at once."""
    entries = [{"job": other.id, "when": when} for other in others]
    job = world.job(name, depends_on=entries)
    Dependency.objects.bulk_create(
        Dependency(job=job, on_id=other.id, on_name=other.name, condition=when) for other in others
    )
    world.wish(job, 1)
    return job


def end(world: World, job: Job, code: int) -> None:
    """Let all of its processes end, as often as it is tried again."""
    while not fresh(job).finished_at:
        for process in list(world.host.running()):
            if process.startswith(job.id):
                world.host.exit(process, code)
        world.clock.advance(600)
        world.tick()


def stands(job: Job) -> tuple[str, str]:
    found = fresh(job)
    return found.state, found.reason


def test_a_job_starts_when_the_one_it_waits_for_has_completed(world: World) -> None:
    first = world.job("first")
    second = after(world, "second", first)
    world.running(first, 1)
    world.tick()
    assert stands(second) == ("queued", "waiting_for_jobs")
    assert fresh(second).message == f"Waits for first ({first.id}) to complete (running)."
    assert kinds(second).count("preparing") == 1
    end(world, first, 0)
    assert fresh(first).state == "completed"
    world.tick(2)
    assert fresh(second).state == "starting"


def test_who_waits_in_vain_fails_and_so_do_those_that_wait_for_it(world: World) -> None:
    first = world.job("first", retry={"max_restarts": 0})
    second = after(world, "second", first)
    third = after(world, "third", second)
    cleans_up = after(world, "cleans-up", second, when="failed")
    world.running(first, 1)
    end(world, first, 1)
    assert fresh(first).state == "failed"
    world.tick(2)
    assert stands(second) == ("failed", "dependency_unmet")
    said = f"It waited for first ({first.id}) to complete, which is failed."
    assert fresh(second).message == said
    assert stands(third) == ("failed", "dependency_unmet")
    assert fresh(cleans_up).state == "starting"


def test_a_whole_chain_that_waits_in_vain_fails_in_one_tick(world: World) -> None:
    first = world.job("first")
    chain = [first]
    for number in range(5):
        chain.append(after(world, f"then-{number}", chain[-1]))
    paused = after(world, "paused", chain[2])
    behind_paused = after(world, "behind-paused", paused)
    whatever = after(world, "whatever", chain[1], when="any")
    world.tick()
    control.pause(job_id=paused.id, actor="ada")
    control.cancel(job_id=first.id, actor="ada")
    world.tick()
    assert {stands(job) for job in chain[1:]} == {("failed", "dependency_unmet")}
    assert fresh(chain[5]).message == (
        f"It waited for {chain[4].name} ({chain[4].id}) to complete, which is failed."
    )
    assert stands(behind_paused) == ("queued", "waiting_for_jobs")
    world.tick()
    assert fresh(whatever).state == "starting"


def test_a_job_waits_for_gpus_only_since_others_let_it_go(world: World) -> None:
    first = world.job("first")
    second = after(world, "second", first)
    world.wish(second, 0)
    world.tick()
    long_ago = timezone.now() - timedelta(days=1)
    Job.objects.filter(pk=second.pk).update(state_since=long_ago, submitted_at=long_ago)
    world.running(first, 1)
    assert fresh(second).state_since == long_ago
    end(world, first, 0)
    world.tick()
    assert fresh(second).state == "queued"
    assert fresh(second).reason != "waiting_for_jobs"
    assert fresh(second).state_since > long_ago + timedelta(hours=23)
    since = fresh(second).state_since
    world.tick(2)
    assert fresh(second).state_since == since


def test_jobs_are_told_for_whom_they_wait_in_as_few_statements_as_one(world: World) -> None:
    first = world.job("first")
    world.running(first, 1)

    def statements(length: int) -> int:
        world.tick(2)
        chain = [first]
        for number in range(length):
            chain.append(after(world, f"{length}-{number}", chain[-1]))
        with CaptureQueriesContext(connection) as made:
            world.tick()
        assert {stands(job) for job in chain[1:]} == {("queued", "waiting_for_jobs")}
        return len(made)

    assert statements(2) == statements(12)


def test_how_a_deleted_job_ended_is_still_known(world: World) -> None:
    first = world.job("first")
    second = after(world, "second", first)
    control.pause(job_id=second.id, actor="ada")
    world.running(first, 1)
    end(world, first, 0)
    job_deletion.delete(job_id=first.id)
    control.resume(job_id=second.id, actor="ada")
    world.tick(2)
    assert fresh(second).state == "starting"


def test_jobs_that_wait_for_others_take_one_statement_together(world: World) -> None:
    first = world.job("first")
    world.running(first, 1)

    def statements() -> int:
        world.tick(3)
        with CaptureQueriesContext(connection) as made:
            world.tick()
        return len(made)

    without = statements()
    waiting = [after(world, f"after-{number}", first) for number in range(2)]
    two = statements()
    waiting += [after(world, f"more-{number}", first, *waiting[:2]) for number in range(10)]
    assert (two - without, statements() - two) == (1, 0)
