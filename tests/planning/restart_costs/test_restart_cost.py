"""What starting a script with other workers cost, by the logs of scripts as they are found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import pytest
from cluster.worker_host import LogLine

from autoscaler.restart_costs.restart_cost import RestartCost, restart_cost

START = datetime(2026, 11, 22, 12, tzinfo=UTC)

Written = Sequence[tuple[float, str]]  # seconds since START, and the text


def lines(written: Iterable[tuple[float, str]]) -> list[LogLine]:
    return [
        LogLine(at=START + timedelta(seconds=at), process_id="job-1-0", stream="stdout", text=text)
        for at, text in written
    ]


def every(seconds: float, texts: Iterable[str], *, begin: float = 0.0) -> Written:
    return [(begin + seconds * place, text) for place, text in enumerate(texts)]


def cost(old: Written, new: Written, *, stopped: float) -> RestartCost:
    moment = START + timedelta(seconds=stopped)
    return restart_cost(lines(old), lines(new), ordered_at=moment, stopped_at=moment)


def bar(done: int, total: int = 500, *, name: str = "") -> str:
    return f"{name}{100 * done // total:3}%|█▏   | {done}/{total} [00:34<07:54,  9.82it/s]"


def test_steps_that_come_twice_were_made_again() -> None:
    """As nanoGPT prints them: every tenth."""
    old = every(2.0, [f"iter {n}: loss 2.3, time 195.1ms" for n in range(0, 130, 10)])
    new = every(2.0, [f"iter {n}: loss 2.4, time 97.3ms" for n in (100, 110)], begin=37.0)
    told = cost(old, new, stopped=25.0)
    assert (told.seconds, told.sign) == (12.0, "iteration")
    assert (told.repeated_units, told.repeated_unit, told.repeated_seconds) == (
        20,
        "iteration",
        5.0,
    )
    assert told.is_certain
    assert told.message == (
        "About 12 s from the restart to `iter 100`; the workers before had got to `iter 120`."
        " At least 20 iterations, about 5.0 s of work, were made again."
    )


def test_nothing_seen_twice_is_known_and_not_more_than_was_seen() -> None:
    old = every(2.0, [f"step {n}" for n in range(5)])
    told = cost(old, every(2.0, ["step 5", "step 6"], begin=20.0), stopped=9.5)
    assert (told.repeated_units, told.repeated_seconds) == (0.0, 0.0)
    assert "No number came twice: at most what was done behind the last one, in about 1.5 s" in (
        told.message
    )


MNIST = "Train Epoch: {} [{}/60000 ({:.0f}%)]\tLoss: 0.12"
RESTARTS = {
    "mnist, by epoch and sample": (
        [MNIST.format(e, n, n / 600) for e in (1, 2) for n in range(0, 60000, 20000)],
        [MNIST.format(2, n, n / 600) for n in (0, 20000)],
        (40000, "count", 2.5),
    ),
    "imagenet, over an epoch's end": (
        [f"Epoch: [{e}][ {n}/40]\tTime 0.2" for e in (1, 2) for n in (0, 10, 20, 30)],
        [f"Epoch: [1][ {n}/40]\tTime 0.2" for n in (20, 30)],
        (50, "count", 5.5),
    ),
    "as many steps, of other epochs: as far as both are": (
        [f"Epoch: [1][ {n}/40]\tTime 0.2" for n in (0, 10, 20, 30)],
        [f"Epoch: [1][ {n}/20]\tTime 0.2" for n in (5, 10, 15)],
        (None, "count", 2.5),
    ),
    "epochs alone, each line at its beginning": (
        ["Epoch 1", "Epoch 2", "Epoch 3"],
        ["Epoch 3", "Epoch 4"],
        (0, "epoch", 0.5),
    ),
    "Trainer's epochs in fractions": (
        [f"{{'loss': 0.6, 'epoch': {n / 10}}}" for n in range(1, 20)],
        [f"{{'loss': 0.6, 'epoch': {n / 10}}}" for n in (15, 16)],
        (pytest.approx(0.4), "epoch", 4.5),
    ),
    "a bar for all steps, which jumps when the state is there": (
        [bar(n) for n in (10, 20, 30, 40)],
        ["  0%|     | 0/500 [00:00<?, ?it/s]", bar(31), bar(41)],
        (9, "iteration", 0.5),
    ),
    "a bar for all steps, and epochs beside it": (
        [text for n in (10, 20, 30, 40) for text in (bar(n), f"{{'epoch': {n / 10}}}")],
        [text for n in (30, 40) for text in (bar(n), f"{{'epoch': {n / 10}}}")],
        (10, "iteration", 3.5),
    ),
    "a step that goes on over epochs": (
        [f"epoch {1 + n // 4} step {n} loss 1" for n in range(10)],
        [f"epoch {1 + n // 4} step {n} loss 1" for n in (7, 8, 9)],
        (2, "iteration", 2.5),
    ),
    "a step of its epoch": (
        [f"epoch {e} step {n} loss 1" for e in (1, 2) for n in range(5)],
        [f"epoch 1 step {n} loss 1" for n in (3, 4)],
        (None, "iteration", 6.5),
    ),
    "bars of one epoch each tell less than the epochs": (
        ["Epoch 1", bar(100), bar(300), "Epoch 2", bar(100), bar(300), "Epoch 3"],
        ["Epoch 2", bar(100), bar(300), "Epoch 3"],
        (1, "epoch", 3.5),
    ),
    "a batch of which nobody knows the epoch": (
        ["Epoch 1", *(f"  batch {n} loss: 1" for n in range(100, 500, 100)), "Epoch 2"],
        ["Epoch 2", *(f"  batch {n} loss: 1" for n in range(100, 500, 100)), "Epoch 3"],
        (0, "epoch", 0.5),
    ),
    "the ranks of a launcher beside each other": (
        [f"[rank{r}]: step {n}" for n in range(5) for r in (1, 0)],
        [f"[rank{r}]: step {n}" for n in (3, 4) for r in (1, 0)],
        (1, "iteration", 3.5),
    ),
    "checkpoints are another count than steps": (
        [text for n in range(6) for text in (f"Saved step {n}", f"step {n}", f"step {n}: ok")],
        ["Saved step 9", "step 4", "step 5"],
        (1, "iteration", 4.5),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", RESTARTS)
def test_what_was_made_again_is_told_by_what_a_script_prints(name: str) -> None:
    old, new, expected = RESTARTS[name]
    stopped = len(old) - 0.5  # a line each second
    told = cost(every(1.0, old), every(1.0, new, begin=stopped + 10), stopped=stopped)
    assert (told.repeated_units, told.repeated_unit, told.repeated_seconds) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["loading", "training"], ["loading", "training"]),
        (["batch 64", "loss 1", "loss 2"], ["batch 32", "loss 1"]),  # its setting, not its count
        ([bar(n, 100) for n in (10, 50, 10, 50)], [bar(n, 100) for n in (10, 50)]),  # of any round
        ([bar(n, 100) for n in (10, 50, 100)], [bar(n, 100) for n in (10, 50)]),
        (["loss 1"], [f"step {n}" for n in range(5)]),
        ([f"step {n}" for n in range(5)], ["loss 1"]),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_not_known(old: list[str], new: list[str]) -> None:
    told = cost(every(1.0, old), every(1.0, new, begin=20.0), stopped=10.0)
    assert told.seconds == 10.0
    assert (told.repeated_units, told.repeated_seconds) == (None, None)
    assert "not known" in told.message
    assert "`step 1200`" in told.message
    assert not told.is_certain


def test_without_numbers_only_the_first_line_is_told_and_not_the_platforms() -> None:
    told = cost([], [(3.0, "concertina: warming up"), (4.0, "hello")], stopped=1.0)
    assert (told.seconds, told.sign) == (3.0, "line")


def test_as_long_as_nothing_is_written_nothing_is_known() -> None:
    told = cost(every(1.0, ["step 1", "step 2"]), [], stopped=3.0)
    assert (told.seconds, told.sign, told.repeated_units) == (None, "", None)


def test_one_number_of_the_new_run_is_compared_and_looked_at_again() -> None:
    told = cost(every(1.0, ["step 1", "step 2"]), [(9.0, "step 2")], stopped=3.0)
    assert (told.repeated_units, told.repeated_seconds) == (0, 2.0)
    assert not told.is_certain
    assert told.message.endswith("At least about 2.0 s of work was made again.")


def test_what_was_done_after_the_order_to_stop_counts_as_well() -> None:
    told = cost(every(1.0, [f"step {n}" for n in range(9)]), [(20.0, "step 2")], stopped=5.0)
    assert told.repeated_seconds == 6.0
