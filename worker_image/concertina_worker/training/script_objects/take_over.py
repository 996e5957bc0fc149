"""When may the script's objects move? Once per step, however often their methods are called.

A script calls `step()` after every micro-batch it sees. An optimizer moves at the last one of a
step; so do schedulers, averages of weights and loss scalers, or they would count micro-batches,
whose number differs from worker to worker, and steps that were lost with a worker.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

import torch
from torch.amp.grad_scaler import GradScaler
from torch.optim.lr_scheduler import LRScheduler
from torch.optim.swa_utils import AveragedModel

from concertina_worker.manual import Section
from concertina_worker.training.script_checks.pitfalls import ScriptError
from concertina_worker.training.script_position import ScriptPosition

_NEW_OBJECT: Final[Any] = getattr(copyreg, "__newobj__")  # noqa: B009 - untyped


class StepMaker(Protocol):
    """What a step is, to the script's objects."""

    @property
    def position(self) -> ScriptPosition: ...

    def exchange(self) -> bool: ...

    def step_optimizer(
        self, optimizer: torch.optim.Optimizer, real_step: Callable[[], Any]
    ) -> None: ...


def take_over_optimizer(optimizer: torch.optim.Optimizer, loop: StepMaker) -> None:
    """Let it step once per step, and leave gradients alone."""
    if isinstance(optimizer, torch.optim.LBFGS):
        raise SeveralEvaluationsError
    real_step = optimizer.step

    def step(closure: Callable[[], Any] | None = None) -> Any:
        if not loop.position.is_in_epoch:
            raise ScriptError(
                "optimizer.step() was called outside of `for … in job.batches(…)`. Take the batches"
                " from there: a DataLoader of the script's own would give each worker the whole"
                " data, in batches that do not follow the job: job.batches(loader).",
                Section.BATCHES,
            )
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        loop.step_optimizer(optimizer, real_step)
        return loss

    def zero_grad(set_to_none: bool = True) -> None:  # noqa: FBT001, FBT002 - torch's own
        """Gradients are zeroed at the beginning of each step."""

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined] # noqa: SLF001 - or it warns
    optimizer.step = step  # type: ignore[method-assign]
    optimizer.zero_grad = zero_grad  # type: ignore[method-assign]


def take_over_scheduler(scheduler: Any, loop: StepMaker) -> None:
    """Let `step()` count the steps of the base batch that a step stands for."""

    def steps() -> int:
        return loop.position.scheduler_steps

    if callable(getattr(scheduler, "step", None)):
        _guard(scheduler, {"step": steps})


def take_over_extra(extra: Any, loop: StepMaker, once_per_step: Iterable[str] = ()) -> None:
    """Let other state move once per step: a loss scaler, an average of weights, the script's own.

    Args:
        extra: of the script's own objects a method named `step` needs no mention.
        loop: says when a step is made.
        once_per_step: names of methods that change it.

    Raises:
        ScriptError: there is no such method, or the object is an optimizer.
    """

    def may_change() -> bool:
        return loop.position.may_change_state

    for name in once_per_step:
        if not callable(getattr(extra, name, None)):
            raise ScriptError(f"{type(extra).__name__} has no method {name}.", Section.STATE)
    named: dict[str, Callable[[], int]] = dict.fromkeys(once_per_step, may_change)
    match extra:
        case torch.optim.Optimizer():
            raise ScriptError(
                "An optimizer was given to job.state. Give all of them to job.register, as a list.",
                Section.SEVERAL_MODELS,
            )
        case GradScaler():
            _guard(extra, {"unscale_": loop.exchange, "step": loop.exchange, "update": may_change})
        case AveragedModel():
            _guard(extra, {**named, "update_parameters": may_change})
        case LRScheduler():
            take_over_scheduler(extra, loop)
        case _:
            if callable(getattr(extra, "step", None)):
                named["step"] = may_change
            _guard(extra, named)


def _guard(extra: Any, times_of: dict[str, Callable[[], int]]) -> None:
    """Give it a class whose methods run so many times, mostly once or not at all.

    A class, because attributes would get into its state_dict.
    """
    if not times_of:
        return
    original: Any = type(extra)

    def guarded(name: str, times: Callable[[], int]) -> Callable[..., Any]:
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            answer = None
            for _ in range(times()):
                answer = getattr(original, name)(self, *args, **kwargs)
            return answer

        return method

    methods = {name: guarded(name, times) for name, times in times_of.items()}
    guard = type(original.__name__, (original,), methods)

    def reduced(self: Any, protocol: Any) -> Any:
        """Kept and copied as an object of its original class, which alone can be imported."""
        making = original.__reduce_ex__(self, protocol)
        if isinstance(making, str):
            return making
        function, arguments, *rest = making
        arguments = tuple(original if one is guard else one for one in arguments)
        if function is _NEW_OBJECT:  # which pickle refuses for another class
            function = original.__new__
        return (function, arguments, *rest)

    guard.__reduce_ex__ = reduced  # type: ignore[assignment, method-assign]
    extra.__class__ = guard


class SeveralEvaluationsError(Exception):
    """LBFGS evaluates the loss several times in a step, which cannot be made elastic.

    Use another optimizer, or run the job with `elastic: {mode: restart}`.
    """

    def __init__(self) -> None:
        super().__init__(self.__doc__)
