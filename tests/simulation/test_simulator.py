"""Does the simulated cluster do what its rules say?"""

from __future__ import annotations

from dataclasses import replace

import pytest

from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from autoscaler.simulation.engine.replay.settings import (
    CheckpointRestart,
    Failures,
    HotRescale,
    Knowledge,
)
from autoscaler.simulation.engine.replay.simulator import run
from autoscaler.simulation.engine.results.records import SimulationProgress, WorkAhead
from autoscaler.simulation.engine.truth.profiles import Profile
from autoscaler.simulation.engine.truth.progress import rate_schedule_of
from tests.simulation.workloads import LINEAR, RULES, job, model, pool, settings, trace


def test_a_job_alone_finishes_when_its_model_says() -> None:
    result = run(trace(job("a", at=3.0)), settings())
    (record,) = result.jobs
    assert record.first_started_at == 10.0  # the next tick
    assert record.finished_at == pytest.approx(10.0 + 30.0 + 600.0)
    assert record.gpu_seconds == pytest.approx(630.0)
    assert record.stall_seconds == pytest.approx(30.0)
    assert record.samples_done == 60_000
    assert record.rescales == 0


def test_a_gang_of_two_workers_is_twice_as_fast() -> None:
    result = run(trace(job("a", min_workers=2, max_workers=2)), settings())
    assert result.jobs[0].finished_at == pytest.approx(30.0 + 300.0)


def test_a_step_across_nodes_pays_for_the_network() -> None:
    slow = replace(LINEAR, model=model(cross_node=0.32))  # as long as the computation of 32
    two = job("a", profile=slow, min_workers=2, max_workers=2)
    within = run(trace(two), settings(pool(2)))
    across = run(trace(two), settings(pool(1, 1)))
    assert within.jobs[0].finished_at == pytest.approx(30.0 + 300.0)
    assert across.jobs[0].finished_at == pytest.approx(30.0 + 600.0)


def test_a_growing_job_trains_on_while_the_joiner_starts_and_then_stalls() -> None:
    result = run(trace(job("a", max_workers=2, samples=100_000)), settings())
    (record,) = result.jobs
    first, second = record.history[0], record.history[1]
    assert (first.workers, second.workers) == (1, 2)
    alone = second.since + 20.0 - 30.0  # trained at 100 samples per second until the joiner came
    left = 100_000 - 100 * alone
    assert record.finished_at == pytest.approx(second.since + 20.0 + 1.0 + left / 200)
    assert record.stall_seconds == pytest.approx(30.0 + 1.0)
    assert record.gpu_seconds == pytest.approx(
        second.since + 2 * (record.finished_at - second.since)
    )


def test_a_job_starts_alone_while_its_model_is_learned_and_large_where_it_is_known() -> None:
    """One measurement is enough for the rest of the way."""
    jobs = trace(job("a", max_workers=8, samples=1_000_000))
    learned = run(jobs, settings(pool(8))).jobs[0].history
    known = run(jobs, settings(pool(8), knowledge=Knowledge.ORACLE)).jobs[0].history
    assert known[0].workers == 8
    workers = [stay.workers for stay in learned]
    assert workers[0] == 1
    assert workers[1] == 8


def test_a_job_starts_large_where_an_earlier_run_of_its_kind_was_measured() -> None:
    """The first learns; the second begins with what it learned; of another team's it knows nothing.

    Nor does anybody know of earlier runs where they are not looked at.
    """
    many = {"max_workers": 8, "samples": 1_000_000}
    jobs = trace(
        job("first", **many),
        job("second", at=5_000, **many),
        job("foreign", at=10_000, team="language", **many),
    )

    def first_sizes(knowledge: Knowledge) -> list[int]:
        result = run(jobs, settings(pool(8), knowledge=knowledge))
        return [record.history[0].workers for record in result.jobs]

    assert first_sizes(Knowledge.EARLIER_RUNS) == [1, 8, 1]
    assert first_sizes(Knowledge.MEASURED) == [1, 1, 1]


def test_with_checkpoint_restart_every_change_costs_the_whole_restart() -> None:
    costs = CheckpointRestart(seconds=120.0, first_start=30.0)
    result = run(trace(job("a", max_workers=2, samples=100_000)), settings(rescale=costs))
    (record,) = result.jobs
    grown = record.history[1].since
    left = 100_000 - 100 * (grown - 30.0)
    assert record.rescales == 1
    assert record.finished_at == pytest.approx(grown + 120.0 + left / 200)
    assert record.stall_seconds == pytest.approx(150.0)


def test_the_profile_knows_what_its_own_restart_costs() -> None:
    slow = replace(LINEAR, restart_seconds=250.0)
    result = run(trace(job("a", profile=slow)), settings(rescale=CheckpointRestart()))
    assert result.jobs[0].finished_at == pytest.approx(250.0 + 600.0)


def test_a_second_job_waits_for_the_tick_after_the_first_has_ended() -> None:
    result = run(trace(job("a"), job("b", at=1.0)), settings(pool(1)))
    a, b = result.jobs
    assert a.finished_at == pytest.approx(630.0)
    assert b.first_started_at == pytest.approx(630.0)
    assert b.finished_at == pytest.approx(630.0 + 630.0)


def test_plans_at_events_do_not_wait_for_the_tick() -> None:
    eager = settings(plans_at_events=True, debounce_seconds=1.0, tick_seconds=300.0)
    result = run(trace(job("a", at=2.0)), eager)
    assert result.jobs[0].first_started_at == pytest.approx(3.0)


def test_two_pools_do_not_get_in_each_others_way() -> None:
    jobs = (job("a", pool="left"), job("b", pool="left", at=1.0), job("c", pool="right"))
    result = run(trace(*jobs), settings(pool(1, name="left"), pool(1, name="right")))
    a, b, c = result.jobs
    assert a.finished_at == c.finished_at == pytest.approx(630.0)
    assert b.finished_at == pytest.approx(1260.0)
    assert {sample.pool for sample in result.usage} == {"left", "right"}


def test_a_job_of_an_unknown_pool_is_refused_before_anything_runs() -> None:
    with pytest.raises(ValueError, match="job a wants pool elsewhere"):
        run(trace(job("a", pool="elsewhere")), settings())


def test_where_jobs_are_dropped_nobody_queues() -> None:
    dropping = pool(1, admission=AdmissionVariant.DROPPING)
    result = run(trace(job("a"), job("b", at=1.0)), settings(dropping))
    a, b = result.jobs
    assert a.finished_at == pytest.approx(630.0)
    assert b.dropped_at == pytest.approx(10.0)
    assert b.finished_at is None
    assert not b.is_backlog


def test_what_is_left_at_the_horizon_is_the_backlog() -> None:
    result = run(trace(job("a"), job("b", at=1.0)), settings(pool(1), horizon_seconds=700.0))
    a, b = result.jobs
    assert result.ended_at == 700.0
    assert a.finished_at is not None
    assert b.is_backlog
    assert b.samples_done == pytest.approx((700.0 - 660.0) * 100)
    assert b.gpu_seconds == pytest.approx(70.0)


def test_a_job_that_fits_nowhere_does_not_keep_the_simulation_going() -> None:
    result = run(trace(job("a", min_workers=8, max_workers=8)), settings(pool(4)))
    assert result.jobs[0].is_backlog
    assert result.jobs[0].first_started_at is None


def test_progress_slows_down_where_the_gradient_is_hardly_noisy() -> None:
    """EFF = (phi + 64) / (phi + 256): 0.4 in the first half of the work, 0.57 in the second."""
    noisy = replace(LINEAR, noise=((0.0, 64.0), (0.5, 192.0)))
    rates = rate_schedule_of(noisy, samples=100.0, batch=256, rate=10.0, counts_noise=True)
    assert rates.segments == ((50.0, pytest.approx(4.0)), (100.0, pytest.approx(10 * 256 / 448)))
    assert rates.after(0.0, 12.5 + 1.0) == pytest.approx(50.0 + 10 * 256 / 448)
    assert rates.seconds_to_end(0.0) == pytest.approx(12.5 + 50 / (10 * 256 / 448))


def test_use_of_the_pool_is_sampled_whenever_it_changes() -> None:
    result = run(trace(job("a"), job("b", at=1.0, team="language")), settings(pool(1)))
    seen = [(s.time, dict(s.gpus_by_team), dict(s.waiting_by_team)) for s in result.usage]
    assert seen == [
        (0.0, {"vision": 1}, {}),
        (1.0, {"vision": 1}, {"language": 1}),
        (30.0, {"vision": 1}, {"language": 1}),
        (630.0, {"language": 1}, {}),
        (660.0, {"language": 1}, {}),
        (1260.0, {}, {}),
    ]


def test_fairness_compares_with_the_same_share_of_the_pool_alone() -> None:
    result = run(trace(job("a"), job("b")), settings(pool(1), tick_seconds=10.0))
    first, second = sorted(result.jobs, key=lambda record: record.finished_at or 0)
    assert first.mean_contention == pytest.approx(2.0)
    assert first.isolated_seconds == pytest.approx(1200.0)  # half a GPU for 600 GPU-seconds
    assert first.fairness == pytest.approx(630.0 / 1200.0)
    assert second.mean_contention == pytest.approx(1.5)


def test_deadlines_are_met_or_missed() -> None:
    result = run(
        trace(job("a", deadline=700.0), job("b", deadline=700.0, at=1.0)), settings(pool(1))
    )
    assert [record.met_deadline for record in result.jobs] == [True, False]


def test_progress_is_told_until_all_jobs_have_ended() -> None:
    told: list[SimulationProgress] = []
    run(trace(job("a"), job("b", at=1.0)), settings(), on_progress=told.append)
    assert {p.jobs for p in told} == {2}
    assert [p.jobs_ended for p in told] == sorted(p.jobs_ended for p in told)


def test_what_is_left_is_in_sight() -> None:
    seen: list[WorkAhead] = []
    jobs = trace(job("a", samples=60_000), job("b", at=100.0, samples=6_000))
    result = run(jobs, settings(), on_progress=lambda told: seen.append(told.look_ahead()))
    assert {ahead.last_arrival for ahead in seen} == {100.0}
    assert max(ahead.end for ahead in seen) == pytest.approx(result.ended_at)
    assert max(ahead.job_seconds for ahead in seen) > 400.0
    assert [ahead.present for ahead in (seen[0], seen[-1])] == [1, 0]


def test_nothing_is_in_sight_after_the_horizon() -> None:
    seen: list[WorkAhead] = []
    world = settings(horizon_seconds=50.0)
    jobs = trace(job("a"), job("b", at=100.0))
    run(jobs, world, on_progress=lambda told: seen.append(told.look_ahead()))
    assert {(ahead.last_arrival, ahead.end) for ahead in seen} == {(50.0, 50.0)}


def test_the_clock_measures_decisions_and_changes_nothing() -> None:
    ticking = iter(range(10_000))
    jobs = trace(job("a", max_workers=4), job("b", at=5.0, max_workers=4))
    timed = run(jobs, settings(), clock=lambda: float(next(ticking)))
    assert timed.decision_seconds == (1.0,) * timed.plans
    assert run(jobs, settings()).jobs == timed.jobs


def test_the_same_seed_gives_the_same_result_and_another_does_not() -> None:
    jobs = trace(*(job(f"j{i}", at=20.0 * i, max_workers=4) for i in range(3)))
    shaky = settings(
        measurement_noise=0.1,
        failures=Failures(worker_mtbf_seconds=2000.0, node_mtbf_seconds=3000.0),
    )
    result = run(jobs, shaky)
    assert run(jobs, shaky) == result
    assert run(jobs, replace(shaky, seed=1)) != result


def test_hot_jobs_survive_the_loss_of_a_worker_and_others_go_back_to_their_checkpoint() -> None:
    jobs = trace(job("a", min_workers=1, max_workers=4, samples=400_000))
    failing = Failures(worker_mtbf_seconds=1500.0, checkpoint_seconds=100.0)
    hot = run(jobs, settings(failures=failing)).jobs[0]
    cold = run(jobs, settings(failures=failing, rescale=CheckpointRestart(seconds=60.0))).jobs[0]
    assert hot.losses > 0
    assert cold.losses > 0
    assert hot.finished_at is not None
    assert cold.finished_at is not None
    assert hot.finished_at < cold.finished_at


def test_a_lost_node_takes_its_workers_and_comes_back_after_its_repair() -> None:
    failing = Failures(node_mtbf_seconds=2000.0, node_repair_seconds=500.0)
    result = run(
        trace(job("a", max_workers=2, samples=600_000)), settings(pool(1, 1), failures=failing)
    )
    (record,) = result.jobs
    assert record.losses > 0
    assert record.finished_at is not None
    assert {span.workers for span in record.history} >= {1, 2}


@pytest.mark.parametrize("rescale", [HotRescale(), CheckpointRestart()])
def test_no_work_is_done_twice_or_for_nothing_without_failures(
    rescale: HotRescale | CheckpointRestart,
) -> None:
    """What the history of allocations adds up to is the work, whatever was rescaled."""
    kind = Profile(name="kind", model=model(), batch=RULES, samples=1.0)
    jobs = trace(
        *(job(f"j{i}", at=50.0 * i, max_workers=4, samples=40_000, profile=kind) for i in range(5))
    )
    result = run(jobs, settings(rescale=rescale))
    for record in result.jobs:
        assert record.finished_at is not None
        assert record.samples_done == 40_000
        busy = record.gpu_seconds - record.stall_seconds  # with one GPU at least while stalled
        assert busy + 1e-6 >= 40_000 / 100


def test_ticks_go_on_even_where_their_length_divides_badly() -> None:
    """floor(now / tick) may be one too small for now = n * tick: time must not stand still."""
    every = 900 / 333
    result = run(trace(job("a", samples=6_000)), settings(tick_seconds=every))
    assert result.jobs[0].finished_at is not None
    assert result.plans <= result.ended_at / every + 1
