"""How does a job begin that starts from another, or from a model? With its weights, or with all."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from concertina_worker.checkpoint_files import START_STATE, START_WEIGHTS
from concertina_worker.state.checkpoints import checkpoint, weights
from concertina_worker.state.checkpoints.written_file import BrokenCheckpointError
from concertina_worker.state.parts import KeptRows
from concertina_worker.state.training_state import CheckpointMismatchError, TrainingState


def begin(state: TrainingState, folder: Path, *, skip: Collection[str] = ()) -> None:
    """Give a training its first state: all there is in the folder, or weights that it has.

    `skip`: patterns of the names of weights that stay as the script made them.

    Raises:
        WeightsMismatchError: the weights are not those of the script's model.
        StartError: what is there cannot be read, or the rest does not fit.
    """
    path_of_weights, path = folder / START_WEIGHTS, folder / START_STATE
    try:
        if path.exists():
            state.go_on_from(checkpoint.read(path, path_of_weights))
        else:
            state.begin_with(weights.read(path_of_weights), skip=skip)
    except (OSError, BrokenCheckpointError) as error:
        raise StartError(f"cannot be read: {error}") from error
    except CheckpointMismatchError as error:
        raise StartError(
            "does not fit the optimizer, or another object, that the script makes now"
            f" ({error.detail}). With `what: weights` only the model is taken"
        ) from error


def rows_of(folder: Path, *, skip: Collection[str] = ()) -> KeptRows:
    """Return where workers read rows with which to begin.

    Raises:
        StartError: with all of another training there is nothing to do here.
    """
    if (folder / START_STATE).exists():
        raise StartError(
            "has all of a training, which a sharded model cannot take over: say `what: weights`"
        )
    return KeptRows(weights=folder / START_WEIGHTS, skip=tuple(skip))


class StartError(Exception):
    """What `start_from` names cannot be begun with."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"What start_from names {problem}.")
