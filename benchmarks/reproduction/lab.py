"""Where do experiments get their numbers from? Many simulations, side by side in a pool."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from typing import Final, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from autoscaler.simulation.engine.comparison.candidates import Candidate
from autoscaler.simulation.engine.comparison.comparison import Run, replay
from autoscaler.simulation.engine.workload.trace import Trace
from benchmarks.reproduction.store import Store

LINE_EVERY: Final = 8  # simulations, in a log file
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One simulation."""

    trace: Trace
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class Lab:
    """Runs trials that were not run before. Results do not depend on how many processes do it."""

    pool: Executor  # shared by all experiments: its processes import for seconds
    console: Console
    store: Store

    def run(self, title: str, trials: Mapping[Key, Trial]) -> dict[Key, Run]:
        """Simulate all trials and show how far it is."""
        found = {key: run for key, trial in trials.items() if (run := self.store.get(trial))}
        if not self.console.is_terminal:
            self.console.print(f"{title}: {len(trials) - len(found)} of {len(trials)} to do")
        with _progress(self.console) as progress:
            bar = progress.add_task(title, total=len(trials), completed=len(found))
            waiting: dict[Future[Run], Key] = {
                self.pool.submit(_simulate, trial): key
                for key, trial in trials.items()
                if key not in found
            }
            for future in as_completed(waiting):
                key = waiting[future]
                found[key] = future.result()
                self.store.put(trials[key], found[key])
                progress.advance(bar)
                if not self.console.is_terminal and len(found) % LINE_EVERY == 0:
                    self.console.print(f"{title}: {len(found)} of {len(trials)}")
        return {key: found[key] for key in trials}


def _simulate(trial: Trial) -> Run:
    """Simulate in a process of its own. Use over time is not sent back: nobody asks for it."""
    run = replay(trial.trace, trial.candidate)
    return replace(run, result=replace(run.result, usage=()))


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<44}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
