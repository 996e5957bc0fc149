"""The last checkpoints are kept, and beside them those of which the best was measured."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from concertina_worker.checkpoint_files import (
    MOST_VALUES,
    CheckpointDescription,
    CheckpointName,
    Value,
    about,
)
from concertina_worker.environment import BestCheckpointRule, CheckpointRules
from concertina_worker.membership.alone import Alone
from concertina_worker.state.checkpoints import checkpoint, keeping
from concertina_worker.training.checkpoint_duty import CheckpointDuty
from tests.worker.state.state_samples import a_state
from tests.worker.state.test_checkpoint import content_of, states

LOWEST = BestCheckpointRule(metric="val_loss", goal="min", count=2)


def steps(folder: Path) -> list[int]:
    return [name.step for state in states(folder) if (name := CheckpointName.of(state))]


def write(folder: Path, best: BestCheckpointRule, **measured: float) -> list[int]:
    """Checkpoints of steps 1, 2, …, each with its value."""
    for step, value in enumerate(measured.values(), start=1):
        values = (Value(name="val_loss", value=value, step=step),)
        told = CheckpointDescription(step=step, values=values)
        checkpoint.write(folder, content_of(step), told, keep_last=1, keep_best=best)
    return steps(folder)


@pytest.mark.parametrize(("goal", "kept"), [("min", [2, 4, 5]), ("max", [1, 3, 5])])
def test_the_best_are_kept_beside_the_last(tmp_path: Path, goal: str, kept: list[int]) -> None:
    best = BestCheckpointRule(metric="val_loss", goal="max" if goal == "max" else "min", count=2)
    assert write(tmp_path, best, a=3.0, b=1.0, c=4.0, d=2.0, e=2.5) == kept


def test_of_equals_the_later_is_kept(tmp_path: Path) -> None:
    assert write(tmp_path, LOWEST, a=1.0, b=1.0, c=1.0, d=5.0) == [2, 3, 4]


def test_a_value_of_an_earlier_step_says_nothing_of_a_checkpoint(tmp_path: Path) -> None:
    write(tmp_path, LOWEST, a=1.0)
    stale = (Value(name="val_loss", value=0.5, step=1),)
    for step in (2, 3):
        told = CheckpointDescription(step=step, values=stale)
        checkpoint.write(tmp_path, content_of(step), told, keep_last=1, keep_best=LOWEST)
    assert steps(tmp_path) == [1, 3]


def test_one_that_is_among_the_best_is_written_when_its_value_is_logged(tmp_path: Path) -> None:
    rules = CheckpointRules(folder=tmp_path, interval_seconds=1e9, keep_last=1, keep_best=LOWEST)
    state = a_state(seed=1, steps=1)
    duty = CheckpointDuty(rules, Alone(), state)
    for state.step, loss in enumerate((5.0, 4.0, 9.0, float("nan"), 3.0), start=1):
        duty.write_if_due()  # for it was not told yet what this step is worth
        duty.log({"val_loss": loss, "other": 0.0}, step=state.step)
        duty.write_if_due()
    state.step = 6
    duty.write_now()
    assert steps(tmp_path) == [2, 5, 6]
    newest = keeping.told_by(tmp_path / "step-000000000006.pt")
    assert newest is not None
    assert {one.name: (one.value, one.step) for one in newest.values} == {
        "val_loss": (3.0, 5),
        "other": (0.0, 5),
    }
    duty.log({"val_loss": 1.0}, step=6)  # behind the last step, which is on disk already
    duty.write_now()
    assert steps(tmp_path) == [5, 6]
    newest = keeping.told_by(tmp_path / "step-000000000006.pt")
    assert newest is not None
    assert newest.measured("val_loss") == 1.0


def test_weights_that_no_state_names_go_after_a_while(tmp_path: Path) -> None:
    write(tmp_path, LOWEST, a=1.0)
    nobodys = tmp_path / "step-000000000009.0123456789abcdef.safetensors"
    nobodys.touch()
    write(tmp_path, LOWEST, a=1.0)
    assert nobodys.exists()  # its state may just be written
    an_hour_ago = time.time() - 3600.0
    for path in tmp_path.iterdir():
        os.utime(path, (an_hour_ago, an_hour_ago))
    write(tmp_path, LOWEST, a=1.0)
    assert not nobodys.exists()
    assert steps(tmp_path) == [1]


def test_a_description_has_bounds() -> None:
    told = CheckpointDescription(step=3, weights_digest="a" * 64, epoch=1.5)
    footer = b"concertina checkpoint 2\n" + bytes(32)
    assert about(b"state" + told.tail() + footer)[0] == told
    many = tuple(Value(name=str(one), value=0.0, step=1) for one in range(MOST_VALUES + 1))
    for wrong in (
        CheckpointDescription(step=-1, weights_digest="a" * 64),
        CheckpointDescription(step=1, weights_digest="../secret"),
        CheckpointDescription(step=1, weights_digest="a" * 64, epoch=float("inf")),
        CheckpointDescription(step=1, weights_digest="a" * 64, values=many),
        CheckpointDescription(step=2**70, weights_digest="a" * 64),
        CheckpointDescription(
            step=1, weights_digest="a" * 64, values=(Value(name="x" * 201, value=0.0, step=1),)
        ),
    ):
        with pytest.raises(ValueError, match=r"is no|are no|names no|has no"):
            about(wrong.tail() + footer)
    for torn in (b"", footer, told.tail()[3:] + footer, b"[]\2\0\0\0" + footer):
        with pytest.raises(ValueError, match=r"no checkpoint|cut off|no mapping"):
            about(torn)
