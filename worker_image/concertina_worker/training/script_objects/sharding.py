"""What does a script say of how its model is sharded? What cannot be done is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from concertina_worker.environment import WorkerEnvironment
from concertina_worker.manual import Section
from concertina_worker.protocol import LearningRateScaling
from concertina_worker.state.parts import Parts
from concertina_worker.state.training_state import TrainingState
from concertina_worker.training.script_checks.pitfalls import ScriptError


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """The script's functions; what they are for says `Job.register`."""

    shard: Callable[[torch.nn.Module, Any], object]
    init: Callable[[torch.nn.Module], object] | None
    device: torch.device

    @classmethod
    def of(
        cls,
        shard: Callable[[torch.nn.Module, Any], object] | None,
        init: Callable[[torch.nn.Module], object] | None,
        device: torch.device,
    ) -> Sharding | None:
        """Return None of a model that each worker holds. Raises ScriptError."""
        if shard is not None:
            return cls(shard=shard, init=init, device=device)
        if init is not None:
            raise _refusal("`init` is for a model that `shard` lays out: give both, or none.")
        return None

    def take(
        self,
        model: object,
        optimizers: Sequence[torch.optim.Optimizer],
        environment: WorkerEnvironment,
    ) -> Parts:
        """Raises ScriptError when this cannot be trained in parts."""
        from concertina_worker.sharding import taking  # noqa: PLC0415 - slow: whoever shards waits

        rules, checkpoints = environment.batch, environment.checkpoints
        if rules and rules["lr_scaling"] == LearningRateScaling.ADASCALE:
            raise _refusal(
                "`lr_scaling: adascale` measures the noise of gradients, of which no worker of a"
                " sharded model has all. Choose linear, sqrt or none."
            )
        if checkpoints and checkpoints.keep_best is not None:
            raise _refusal(
                "`checkpoint.keep_best` wants a checkpoint of the very step at which a value was"
                " logged; those of a sharded model are agreed on a step ahead. Leave it out."
            )
        try:
            return taking.take(model, optimizers, self.shard, self.init, self.device)
        except taking.NotShardableError as error:
            raise _refusal(str(error)) from error


def check_extras(state: TrainingState) -> None:
    """Raises ScriptError for what cannot follow a model in parts."""
    if state.parts is None:
        return
    from concertina_worker.sharding import taking  # noqa: PLC0415 - loaded already

    try:
        taking.check_extras(state.extras)
    except taking.NotShardableError as error:
        raise _refusal(str(error)) from error


def _refusal(text: str) -> ScriptError:
    return ScriptError(text, Section.SHARDED_MODELS)
