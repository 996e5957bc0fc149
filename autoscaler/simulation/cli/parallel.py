"""How do several simulations run at once? Each in a process of its own, telling how far it is."""

from __future__ import annotations

import multiprocessing
import queue
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import Run, replay

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import Progress
    from autoscaler.simulation.engine.workload.trace import Trace

Tell = Callable[[str, int], None]  # the candidate's label, jobs that have ended
SECONDS_BETWEEN_SIGNS: Final = 0.2
_POLL_SECONDS: Final = 0.1

_signs: Any = None  # a child's way to its parent


def run_all(
    trace: Trace, candidates: Sequence[Candidate], *, processes: int, tell: Tell
) -> list[Run]:
    """Simulate all candidates, at most so many at once; runs come in the candidates' order."""
    if min(processes, len(candidates)) <= 1:
        return [simulate(trace, candidate, tell) for candidate in candidates]
    context = multiprocessing.get_context("spawn")
    signs = context.Queue()
    with ProcessPoolExecutor(processes, context, _connect, (signs,)) as pool:
        futures = [pool.submit(_in_child, trace, candidate) for candidate in candidates]
        while not all(future.done() for future in futures):
            _pass_on(signs, tell)
        return [future.result() for future in futures]


def simulate(trace: Trace, candidate: Candidate, tell: Tell) -> Run:
    """One simulation, with signs of life in between and one at the end."""
    told_at = perf_counter()

    def on_progress(progress: Progress) -> None:
        nonlocal told_at
        if perf_counter() - told_at >= SECONDS_BETWEEN_SIGNS:
            told_at = perf_counter()
            tell(candidate.label, progress.jobs_ended)

    run = replay(trace, candidate, clock=perf_counter, on_progress=on_progress)
    tell(candidate.label, len(trace.jobs))
    return run


def _connect(signs: Any) -> None:
    global _signs  # noqa: PLW0603 - a pool's processes can be given things in no other way
    _signs = signs


def _in_child(trace: Trace, candidate: Candidate) -> Run:
    return simulate(trace, candidate, lambda label, ended: _signs.put((label, ended)))


def _pass_on(signs: Any, tell: Tell) -> None:
    try:
        tell(*signs.get(timeout=_POLL_SECONDS))
    except queue.Empty:
        return
