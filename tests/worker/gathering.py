"""Real gloo groups among threads of one process: as many workers as a test needs, at once."""

from __future__ import annotations

import queue
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from concertina_worker.collective.gpu_offer import GpuOffer
from concertina_worker.collective.group import Group
from concertina_worker.collective.rendezvous import Meeting, build
from concertina_worker.collective.wires import Wires
from concertina_worker.plan import GenerationPlan

Result = TypeVar("Result")


def a_plan(members: str, joiners: str = "", *, is_recovery: bool = False) -> GenerationPlan:
    """Workers have names of one letter: `a_plan("abc", "c")`."""
    return GenerationPlan(
        generation=1,
        members=tuple(members),
        joiners=tuple(joiners),
        is_recovery=is_recovery,
        global_batch_size=8,
        revision=1,
        timeout_seconds=120.0,
    )


def gather(
    plan: GenerationPlan,
    act: Callable[[Group], Result],
    *,
    gpus: Mapping[str, GpuOffer] | None = None,
) -> dict[str, Result]:
    """Let every member build its group and act; returns what each returned."""
    address: queue.Queue[str] = queue.Queue()

    def await_address() -> str:
        found = address.get(timeout=90)
        address.put(found)
        return found

    groups: list[Group] = []  # nobody goes before all have met: that would look like a loss

    def meet(worker: str) -> Group:
        gpu = gpus[worker] if gpus else GpuOffer()
        meeting = Meeting(
            host="127.0.0.1",
            token="token of the job",
            announce=address.put,
            await_address=await_address,
            gpu=gpu,
        )
        group = build(plan, worker, meeting, Wires())
        groups.append(group)
        return group

    with ThreadPoolExecutor(len(plan.members)) as pool:
        futures = {
            worker: pool.submit(lambda worker=worker: act(meet(worker))) for worker in plan.members
        }
        return {worker: future.result(timeout=150) for worker, future in futures.items()}
