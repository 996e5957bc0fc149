"""A schedule is where it is by the samples used, whatever the batches were."""

from __future__ import annotations

import pytest

from concertina_worker.batch.schedule import Schedule

LENGTH, BASE = 1000, 32  # 31 full steps an epoch and one of 8 samples


def train(
    batches: list[int], *, epochs: int = 1, efficiency: float = 1.0
) -> list[tuple[int, Schedule]]:
    """Samples used and the schedule after each step; sizes of batches in turn, for ever."""
    schedule, told, used = Schedule(), [], 0
    turn = 0
    for _ in range(epochs):
        position = 0
        while position < LENGTH:
            batch = range(position, min(position + batches[turn % len(batches)], LENGTH))
            schedule = schedule.after(batch, length=LENGTH, base=BASE, efficiency=efficiency)
            position, turn, used = batch.stop, turn + 1, used + len(batch)
            told.append((used, schedule))
    return told


def test_at_the_base_batch_every_step_counts_one() -> None:
    told = train([BASE], epochs=2)
    assert [schedule.steps for _, schedule in told] == list(range(1, 65))
    assert told[-1][1].epochs == 2.0


@pytest.mark.parametrize("batches", [[128], [8], [33], [96, 16, 250, 7]], ids=str)
def test_at_the_same_sample_any_batches_have_come_equally_far(batches: list[int]) -> None:
    at_base = dict(train([1]))
    for used, schedule in train(batches):
        assert schedule.steps == at_base[used].steps
        assert schedule.epochs == pytest.approx(used / LENGTH, abs=1e-9)
    assert train(batches, epochs=5)[-1][1].steps == 5 * 32


def test_whole_steps_add_up_to_the_count() -> None:
    before, total = Schedule(), 0
    for _, schedule in train([100], epochs=3, efficiency=0.37):
        total += schedule.whole_steps_since(before)
        before = schedule
    assert total == int(3 * 32 * 0.37)


def test_a_third_three_times_is_a_whole_epoch() -> None:
    schedule = Schedule()
    for start in range(0, 9, 3):
        schedule = schedule.after(range(start, start + 3), length=9, base=3)
    assert schedule.epochs == 1.0
    assert schedule.whole_epochs_since(Schedule()) == 1


def dropping_the_last(batches: list[int], *, efficiency: float = 1.0) -> Schedule:
    """After two epochs."""
    now = Schedule()
    for _ in range(2):
        before, position, turn = now, 0, 0
        while (stop := position + batches[turn % len(batches)]) <= LENGTH:
            now = now.after(
                range(position, stop),
                length=LENGTH,
                base=BASE,
                efficiency=efficiency,
                drops_last=True,
            )
            position, turn = stop, turn + 1
        now = now.after_epoch(before, used=position / LENGTH)
    return now


@pytest.mark.parametrize("batches", [[32], [600], [999], [250], [7, 130], [2000]], ids=str)
def test_an_epoch_counts_one_however_much_of_it_is_dropped(batches: list[int]) -> None:
    assert dropping_the_last(batches).epochs == 2.0
    if sum(batches) < LENGTH:
        assert dropping_the_last(batches, efficiency=0.5).epochs == 1.0


@pytest.mark.parametrize("batches", [[32], [8], [250], [600], [7, 130]], ids=str)
def test_a_last_batch_that_is_dropped_is_no_step_of_a_schedule(batches: list[int]) -> None:
    assert dropping_the_last(batches).steps <= 2 * (LENGTH // BASE)
    if batches in ([32], [8], [250]):
        assert dropping_the_last(batches).steps == 2 * 31
