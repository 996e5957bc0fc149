"""What is a worker without a platform? A group of one that nothing happens to but SIGTERM."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from typing import Any

import torch

from concertina_worker.collective.group import alone
from concertina_worker.membership.agreement import AgreedSums, SwitchOffer
from concertina_worker.membership.trainer import Trainer
from concertina_worker.protocol import ExitCode
from concertina_worker.samples.step_plan import StepPlan


class Alone:
    """Stands in for `WorkerMembership` when the script runs by itself."""

    rank = 0
    size = 1
    is_broken = False
    has_lost_a_member = False
    generation = 0
    transfer_seconds = 0.0
    worker = "alone"

    def __init__(self) -> None:
        self.step_plan = StepPlan.steady(1, self.worker)
        self.has_ended = False  # on its way out, whatever the script still does
        self._is_told_to_end = False
        self._is_training = False

    def start(self, *, keeps_checkpoints: bool) -> None:
        """Heed SIGTERM if checkpoints can be kept: finish the step and write one."""
        if keeps_checkpoints and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._on_sigterm)

    def enter(self, trainer: Trainer) -> None:
        self._is_training = True
        if parts := trainer.state.parts:
            group = alone(self.worker)
            parts.meet(group, trainer.state, trainer.begin, trainer.furthest_step)
        else:
            trainer.begin()

    def turn(self, trainer: Trainer) -> None:
        """Pass between two steps of an epoch, and end there if told to."""
        if self._is_told_to_end:
            trainer.write_checkpoint()
            self.has_ended = True
            raise SystemExit(int(ExitCode.RELEASED))

    def start_sum(self, tensor: torch.Tensor) -> Any:  # noqa: ARG002
        return None

    def offer(self) -> SwitchOffer:
        return SwitchOffer()

    def stop_handover(self) -> bool:
        return True

    def rest(self) -> None:
        """Nobody watches."""

    def settle(self, trainer: Trainer) -> None:
        """There is nobody to wait for."""

    @property
    def owes_state(self) -> bool:
        return False

    def decide(self, tally: AgreedSums, trainer: Trainer) -> None:
        """There is nobody to agree with."""

    def fail(self) -> None:
        """There is nobody to lose."""

    def mean(self, value: float, *, line: int) -> float:  # noqa: ARG002
        return value

    def take_from_main(self, tensors: Sequence[torch.Tensor]) -> None:
        """This is the main worker."""

    def finish(self) -> None:
        self._is_training = False

    def tell(self, kind: str, **fields: Any) -> None:
        """There is nobody to tell."""

    def close(self) -> None:
        """There is nothing to close."""

    def _on_sigterm(self, *_: Any) -> None:
        self._is_told_to_end = True
        if not self._is_training:
            raise SystemExit(int(ExitCode.RELEASED))
