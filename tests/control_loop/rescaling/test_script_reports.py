"""What a plain script tells of itself is stored like what a coordinator reports."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from autoscaler.planning.planner import plan
from autoscaler.script_reports.reading import read_scripts
from autoscaler.script_reports.sources import MOST_BYTES
from jobs.models import Generation, Job, Measurement, MetricPoint, ScriptReading
from tests.control_loop.rescaling.test_restart_costs import write
from tests.control_loop.world import World, fresh, live_workers


def started(world: World, *, workers: int = 1, **spec: Any) -> tuple[Job, str]:
    job = world.job(elastic={"mode": "restart"}, batch={"global_batch_size": 32}, **spec)
    world.wish(job, workers)
    world.tick(2)
    assert fresh(job).state == "running"
    return job, Generation.objects.get(job=job).worker_ids[0]


def report_file(world: World, job: Job, worker: str) -> Path:
    path = world.state_dir / "jobs" / job.id / "reports" / f"{worker}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def tell(world: World, job: Job, worker: str, *told: dict[str, Any]) -> None:
    with report_file(world, job, worker).open("a") as file:
        file.writelines(json.dumps(one) + "\n" for one in told)


def steps(world: World, *numbers: int, **more: Any) -> list[dict[str, Any]]:
    """One each ten seconds, up to now."""
    now = world.clock().timestamp()
    late = [10.0 * (len(numbers) - 1 - place) for place in range(len(numbers))]
    return [{"step": n, "at": now - ago, **more} for n, ago in zip(numbers, late, strict=True)]


def look(world: World) -> int:
    return read_scripts(world.clock(), world.state_dir, has_time=lambda: True)


def test_told_steps_become_progress_a_curve_and_a_measurement(world: World) -> None:
    job, worker = started(world, workers=2)
    world.clock.advance(60)
    tell(world, job, worker, *steps(world, 10, 30, 50, loss=0.5, total_steps=1000))
    assert look(world) == 1
    now = fresh(job)
    assert (now.step, now.samples, now.total_samples) == (50, 1600, 32_000)
    assert now.samples_per_second == pytest.approx(64.0)
    assert now.values == {"loss": 0.5}
    assert now.is_measured
    assert [point.step for point in MetricPoint.objects.filter(job=job).order_by("step")] == [
        10, 30, 50,
    ]  # fmt: skip
    measured = Measurement.objects.get(job=job)
    assert (measured.workers, measured.global_batch_size, measured.steps) == (2, 32, 40)
    assert measured.step_seconds == pytest.approx(0.5)


def test_each_line_is_read_once_and_the_next_look_goes_on(world: World) -> None:
    job, worker = started(world)
    world.clock.advance(60)
    tell(world, job, worker, *steps(world, 10, 20))
    assert [look(world), look(world)] == [1, 0]
    world.clock.advance(10)
    tell(world, job, worker, *steps(world, 40))
    with report_file(world, job, worker).open("a") as file:
        file.write('{"step": 9')  # not whole yet
    assert look(world) == 1
    assert fresh(job).step == 40
    assert MetricPoint.objects.filter(job=job).count() == 3


def test_the_planner_goes_by_what_was_measured(world: World) -> None:
    job, worker = started(world)

    def seen() -> Any:
        (known,) = [one for one in planned_jobs(world) if one.job_id == job.id]
        return known

    assert (seen().scaling, seen().is_measurable) == (None, False)
    world.clock.advance(60)
    tell(world, job, worker, *steps(world, 0, 20, 40, total_steps=100))
    look(world)
    assert seen().is_measurable
    assert seen().scaling.measured_workers == 1
    assert seen().remaining_samples == 60 * 32


def planned_jobs(world: World) -> list[Any]:
    held: list[Any] = []

    def remember(state: Any) -> Any:
        held.extend(state.jobs)
        return plan(state)

    assert replace(world.loop(), planner=remember).run_once()
    return held


def test_a_new_set_of_workers_is_measured_for_itself(world: World) -> None:
    job, worker = started(world)
    world.clock.advance(60)
    tell(world, job, worker, *steps(world, 0, 20, 40))
    look(world)
    world.wish(job, 2)
    world.tick(4)
    first = Generation.objects.get(job=job, number=2).worker_ids[0]
    world.clock.advance(60)
    tell(world, job, first, *steps(world, 40, 80, 120))
    assert look(world) == 1
    found = dict(Measurement.objects.filter(job=job).values_list("workers", "step_seconds"))
    assert found == {1: pytest.approx(0.5), 2: pytest.approx(0.25)}


PATTERNS = [
    {"name": "step", "pattern": "step ([0-9]+)"},
    {"name": "loss", "pattern": "loss[= ]([0-9.e+-]+)"},
]


def test_patterns_read_the_log(world: World) -> None:
    job, worker = started(world, metrics=PATTERNS)
    texts = ["loading", *(f"step {n} loss={n / 8}" for n in range(30))]
    write(world, job, worker, texts, begin=world.clock())
    world.clock.advance(60)
    assert look(world) == 1
    assert (fresh(job).step, fresh(job).values) == (29, {"loss": 29 / 8})
    assert Measurement.objects.get(job=job).step_seconds == pytest.approx(1.0)


def test_without_a_pattern_for_steps_there_is_a_curve_and_no_guess_of_the_speed(
    world: World,
) -> None:
    job, worker = started(world, metrics=PATTERNS[1:])
    write(world, job, worker, [f"loss {n}" for n in (3, 2, 1)], begin=world.clock())
    world.clock.advance(60)
    assert look(world) == 1
    assert [p.values for p in MetricPoint.objects.filter(job=job).order_by("step")] == [
        {"loss": 3.0}, {"loss": 2.0}, {"loss": 1.0},
    ]  # fmt: skip
    assert not Measurement.objects.filter(job=job).exists()
    assert not fresh(job).is_measured


def test_what_a_job_wrote_last_is_read_after_its_end(world: World) -> None:
    job, worker = started(world)
    tell(world, job, worker, {"step": 100})
    world.host.exit(worker, 0)
    world.tick(3)
    assert fresh(job).state == "completed"
    world.clock.advance(30)
    assert look(world) == 1
    world.clock.advance(60)
    tell(world, job, worker, {"step": 101})
    assert look(world) == 0


def test_a_job_that_was_over_before_anybody_saw_it_run_is_read_too(world: World) -> None:
    job, worker = started(world)
    world.host.exit(worker, 0)
    world.tick(3)
    Generation.objects.filter(job=job).delete()
    Job.objects.filter(pk=job.pk).update(generation=0)
    tell(world, job, worker, {"step": 100})
    assert look(world) == 1
    assert (fresh(job).state, fresh(job).step) == ("completed", 100)


def test_no_more_points_are_kept_than_the_job_had_time_to_make(world: World) -> None:
    job, worker = started(world)
    now = world.clock().timestamp()
    tell(world, job, worker, *({"step": n, "at": now - 9000 + n} for n in range(5000)))
    world.clock.advance(1)
    look(world)
    assert 0 < MetricPoint.objects.filter(job=job).count() <= 1010
    assert fresh(job).step == 4999


def test_a_file_without_end_costs_no_more_than_any_other(world: World) -> None:
    job, worker = started(world)
    with report_file(world, job, worker).open("w") as file:
        file.truncate(50 * MOST_BYTES)
        file.seek(0, os.SEEK_END)
        file.write('\n{"step": 7}\n')
    assert look(world) == 1
    assert fresh(job).step == 7


def test_nothing_but_an_ordinary_file_of_its_own_is_read(world: World, tmp_path: Path) -> None:
    job, worker = started(world)
    others = tmp_path / "others.jsonl"
    others.write_text('{"step": 7}\n')
    path = report_file(world, job, worker)
    for make in (path.symlink_to, path.hardlink_to):
        make(others)
        assert look(world) == 0
        path.unlink()
    os.mkfifo(path)
    assert look(world) == 0
    assert not ScriptReading.objects.exists()


def test_one_whose_files_cannot_be_read_keeps_no_other_waiting(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    job, worker = started(world)
    other = world.job("other", elastic={"mode": "restart"})
    world.wish(other, 1)
    world.tick(2)
    tell(world, job, worker, {"step": 5})
    ScriptReading.objects.create(
        job=other, read_at=world.clock() - timedelta(hours=1), state={"pace": {"generation": 1}}
    )
    assert look(world) == 1
    assert fresh(job).step == 5
    assert "What a script tells cannot be read." in caplog.text
    assert len(live_workers(other)) == 1
