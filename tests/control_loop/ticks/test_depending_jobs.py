"""Do jobs start once those have ended that they wait for, and end if that was in vain?"""

from __future__ import annotations

from django.db import connection
from django.test.utils import CaptureQueriesContext

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
    world.tick(4)
    assert stands(second) == ("failed", "dependency_unmet")
    said = f"It waited for first ({first.id}) to complete, which is failed."
    assert fresh(second).message == said
    assert stands(third) == ("failed", "dependency_unmet")
    assert fresh(cleans_up).state == "starting"


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
