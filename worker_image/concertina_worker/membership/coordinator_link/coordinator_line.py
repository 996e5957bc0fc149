"""What does a worker hear of its coordinator's plans, and how does it make them ready?

Joins the control connection, over which plans and addresses come, with the preparations, which
build a plan's group in the background.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.collective.group import Group
from concertina_worker.collective.rendezvous import MEETING_SECONDS, Meeting, build
from concertina_worker.collective.wires import Wires
from concertina_worker.environment import Platform
from concertina_worker.membership.coordinator_link.control import Control
from concertina_worker.membership.coordinator_link.orders import CoordinatorOrders
from concertina_worker.membership.coordinator_link.preparations import Preparations, PreparedPlan
from concertina_worker.membership.coordinator_link.pulse import Pulse
from concertina_worker.plan import GenerationPlan
from concertina_worker.wire import FromWorker

POLL_SECONDS: Final = 0.2
ANSWER_SECONDS: Final = 15.0  # guessed: a line that was cut for 10 s works again by then
RETURN_SECONDS: Final = 15.0  # guessed: above what starting another coordinator takes


class CoordinatorLine:
    """Control connection, preparations and orders of one worker."""

    def __init__(self, platform: Platform, gpu: GpuOffer, *, lost_seconds: float) -> None:
        self.worker = platform.worker_id
        self._token = platform.token
        self._lost_seconds = lost_seconds
        self._gpu = gpu
        self.preparations = Preparations(self.worker, self._build)
        self.preparations.on_build_failed = self._report_failed_build
        self.pulse = Pulse()
        self.control = Control(
            platform,
            self.pulse,
            on_plan=self.preparations.take,
            on_release=self.preparations.end,  # the others may be gone, and not have said so
        )
        self.orders = CoordinatorOrders(self.control, lost_seconds=lost_seconds)

    def start(self) -> None:
        self.orders.listen()
        self.control.start()

    def await_prepared(
        self, accept: Callable[[PreparedPlan], bool], *, newer_than: int
    ) -> PreparedPlan:
        """Wait for an acceptable plan with its group; ends the process if it is told to end."""
        while True:
            self.orders.heed_while_waiting()
            prepared = self.preparations.await_prepared(
                lambda prepared: prepared.plan.generation > newer_than and accept(prepared),
                timeout_seconds=POLL_SECONDS,
            )
            if prepared is not None:
                return prepared

    def tell_switched(
        self, plan: GenerationPlan, *, step: int, lost_steps: int = 0, **status: Any
    ) -> None:
        """Tell that the worker trains by the plan after this step, or has left."""
        self.control.update_status(plan=plan, **status)
        self.control.send(
            FromWorker.SWITCHED, generation=plan.generation, step=step, lost_steps=lost_steps
        )

    def close(self) -> None:
        """Let the coordinator keep what it was told, and hang up."""
        away_seconds = min(RETURN_SECONDS, self._lost_seconds)
        self.control.close(answer_seconds=ANSWER_SECONDS, away_seconds=away_seconds)

    def _build(self, plan: GenerationPlan, wires: Wires) -> Group:
        meeting = Meeting(
            host=self.control.local_host,
            token=self._token,
            announce=lambda address: self._announce_store(plan, address),
            await_address=lambda: self.control.await_store(
                plan.generation, wires, timeout_seconds=MEETING_SECONDS
            ),
            gpu=self._gpu,
        )
        return build(plan, self.worker, meeting, wires)

    def _announce_store(self, plan: GenerationPlan, address: str) -> None:
        store = {"generation": plan.generation, "address": address}
        self.control.update_status(store=store)
        self.control.send(FromWorker.STORE, **store)

    def _report_failed_build(self, plan: GenerationPlan) -> None:
        self.control.send(FromWorker.BUILD_FAILED, generation=plan.generation)
