"""How do several simulations run at once? Each in a process of its own, telling how far it is."""

from __future__ import annotations

import math
import multiprocessing
import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from autoscaler.simulation.cli.progress.remaining import ProgressSign
from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import Run, replay

if TYPE_CHECKING:
    from autoscaler.simulation.engine.results.records import SimulationProgress
    from autoscaler.simulation.engine.workload.trace import Trace

Tell = Callable[[str, ProgressSign | None], None]  # the candidate's label; None: it is done
SECONDS_BETWEEN_SIGNS: Final = 0.2
_POLL_SECONDS: Final = 0.1

_signs: Any = None  # a child's way to its parent


class SimulationsInterrupted(Exception):
    """Somebody pressed Ctrl-C; `runs` are those that were done by then."""

    def __init__(self, runs: Sequence[Run]) -> None:
        super().__init__()
        self.runs = tuple(runs)


def run_all(
    trace: Trace, candidates: Sequence[Candidate], *, processes: int, tell: Tell
) -> list[Run]:
    """Simulate all candidates, at most so many at once; runs come in the candidates' order.

    Raises:
        Interrupted: Ctrl-C; no process is left.
    """
    if min(processes, len(candidates)) > 1:
        return _run_in_processes(trace, candidates, processes, tell)
    runs: list[Run] = []
    try:
        for candidate in candidates:
            run = simulate(trace, candidate, tell)
            runs.append(run)
    except KeyboardInterrupt:
        raise SimulationsInterrupted(runs) from None
    return runs


def simulate(trace: Trace, candidate: Candidate, tell: Tell) -> Run:
    """One simulation, with signs of life in between, and one at its end."""
    told_at = -math.inf

    def on_progress(progress: SimulationProgress) -> None:
        nonlocal told_at
        if perf_counter() - told_at >= SECONDS_BETWEEN_SIGNS:
            told_at = perf_counter()
            tell(candidate.label, _sign_of(progress))

    run = replay(trace, candidate, clock=perf_counter, on_progress=on_progress)
    tell(candidate.label, None)
    return run


def _sign_of(progress: SimulationProgress) -> ProgressSign:
    return ProgressSign(ended=progress.jobs_ended, now=progress.now, ahead=progress.look_ahead())


def _run_in_processes(
    trace: Trace, candidates: Sequence[Candidate], processes: int, tell: Tell
) -> list[Run]:
    context = multiprocessing.get_context("spawn")
    signs = context.Queue()
    with ProcessPoolExecutor(processes, context, _connect, (signs,)) as pool:
        with _deaf_children():
            futures = [pool.submit(_in_child, trace, candidate) for candidate in candidates]
        try:
            ended = 0
            while not all(future.done() for future in futures) or ended < len([*_done(futures)]):
                ended += _pass_on(signs, tell)
        except KeyboardInterrupt:
            runs = list(_done(futures))
            for child in multiprocessing.active_children():
                child.terminate()
            raise SimulationsInterrupted(runs) from None
        return [future.result() for future in futures]


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Processes that start meanwhile do not hear Ctrl-C, not even while they load.

    A terminal sends it to all of them; only this one answers, and ends the others.
    """
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, heard)


def _done(futures: Sequence[Future[Run]]) -> Iterator[Run]:
    for future in futures:
        if future.done() and not future.cancelled() and future.exception() is None:
            yield future.result()


def _connect(signs: Any) -> None:
    global _signs  # noqa: PLW0603 - a pool's processes can be given things in no other way
    _signs = signs


def _in_child(trace: Trace, candidate: Candidate) -> Run:
    return simulate(trace, candidate, lambda label, sign: _signs.put((label, sign)))


def _pass_on(signs: Any, tell: Tell) -> bool:
    """Return True if that was a simulation's last sign, which may come after its result."""
    try:
        label, sign = signs.get(timeout=_POLL_SECONDS)
    except queue.Empty:
        return False
    tell(label, sign)
    return sign is None
