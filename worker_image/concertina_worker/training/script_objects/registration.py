"""What happens with the objects that a script hands over? They are checked, then taken over."""

from __future__ import annotations

from typing import Any

import torch

from concertina_worker.batch.learning_rate import CustomScaling, check_scaling
from concertina_worker.environment import WorkerEnvironment
from concertina_worker.manual import Section
from concertina_worker.membership.alone import Alone
from concertina_worker.membership.membership import WorkerMembership
from concertina_worker.samples.source import source_of
from concertina_worker.state import several
from concertina_worker.state.several import Several
from concertina_worker.state.training_state import Stateful, TrainingState
from concertina_worker.training.loop import OnCommit, TrainingLoop
from concertina_worker.training.script_checks.pitfalls import Pitfalls, ScriptError
from concertina_worker.training.script_objects.sharding import Sharding, check_extras
from concertina_worker.training.script_objects.take_over import (
    take_over_extra,
    take_over_optimizer,
    take_over_scheduler,
)
from concertina_worker.training.script_objects.warm_up import WarmUp, warm_up
from concertina_worker.wire import FromWorker


class Registration:
    """The script's objects: first what `job.state` is given, then the others, then maybe more."""

    def __init__(
        self,
        environment: WorkerEnvironment,
        membership: WorkerMembership | Alone,
        pitfalls: Pitfalls,
    ) -> None:
        self._environment = environment
        self._membership = membership
        self._pitfalls = pitfalls
        self._extras: dict[str, Stateful] = {}
        self._once_per_step: dict[str, tuple[str, ...]] = {}  # of what `state` was given
        self._loop: TrainingLoop | None = None

    def add(self, name: str, extra: Stateful, once_per_step: tuple[str, ...]) -> None:
        """Raises ScriptError when it has no such methods, or the name is taken."""
        if name in self._extras:
            raise ScriptError(
                f"job.state was given {name!r} twice: only the second would be kept. Give each"
                " object a name of its own.",
                Section.STATE,
            )
        self._extras[name] = extra
        if self._loop is not None:
            check_extras(self._loop.state)
        self._once_per_step[name] = once_per_step
        if self._loop is not None:
            take_over_extra(extra, self._loop, once_per_step)

    def make_loop(
        self,
        model: Several[torch.nn.Module],
        optimizer: Several[torch.optim.Optimizer],
        scheduler: Several[Stateful] | None,
        *,
        lr_scaling: CustomScaling | None,
        sharding: Sharding | None,
        on_commit: OnCommit,
    ) -> TrainingLoop:
        """Raises ScriptError when these objects do not belong together."""
        if self._loop is not None:
            raise ScriptError("register was called before: register all at once.", Section.REGISTER)
        schedulers = several.members(scheduler)
        self._extras |= {f"scheduler {number}": one for number, one in enumerate(schedulers)}
        one, optimizers = several.as_one_module(model), several.members(optimizer)
        self._pitfalls.check_registration(
            one, optimizers, schedulers, is_sharded=sharding is not None
        )
        if isinstance(self._membership, WorkerMembership) or sharding is not None:
            self._pitfalls.check_process_group()
        parts = sharding.take(model, optimizers, self._environment) if sharding else None
        state = TrainingState(one, optimizers, self._extras, parts)
        check_extras(state)
        check_scaling(self._environment.batch, lr_scaling)
        self._loop = TrainingLoop(self._environment, self._membership, state, on_commit, lr_scaling)
        return self._loop

    def take_over(self, loop: TrainingLoop, run_once: WarmUp | None, data: Any) -> None:
        """Take the objects over once they are warm: see `Job.register`."""
        if run_once is not None and loop.state.parts is None:
            self._warm_up(loop, run_once)
        if isinstance(self._membership, WorkerMembership):
            loop.state.allocate()
        for optimizer in loop.state.optimizers:
            take_over_optimizer(optimizer, loop)
        if data is not None and isinstance(self._membership, WorkerMembership):
            loop.epoch_data.warm_up(source_of(data))
        for name, extra in self._extras.items():
            if name in self._once_per_step:
                take_over_extra(extra, loop, self._once_per_step[name])
            else:
                take_over_scheduler(extra, loop)

    def _warm_up(self, loop: TrainingLoop, run_once: WarmUp) -> None:
        misfit = warm_up(run_once, loop.state.model, self._environment.batch)
        if misfit is not None:
            loop.epoch_data.limit_batch(misfit // 2)
            self._membership.tell(FromWorker.OUT_OF_MEMORY, samples=misfit)
