"""A job whose workers die one after the other, at moments a seed chooses; replacements join."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

from tests.worker.running_job import RunningJob

IN_A_STEP: Final = ("forward", "backward", "reduce", "step", "commit", "between steps")
BY_THE_JOINER: Final = ("joining", "building", "receiving", "exchanged")
BETWEEN_EPOCHS: Final = ("mean", "between epochs")
ALONE: Final = "alone"  # between two portions of the only state there is
AT_A_CHANGE: Final = ("switch", "transfer", *BY_THE_JOINER)
ALL: Final = (*IN_A_STEP, *BETWEEN_EPOCHS, "checkpoint", *AT_A_CHANGE, ALONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kill:
    """Who died when."""

    worker: str
    moment: str


class Siege:
    """Drives one job through a list of deaths."""

    def __init__(self, job: RunningJob, *, seed: int, most_workers: int = 4) -> None:
        self.job = job
        self.kills: list[Kill] = []
        self._chance = random.Random(seed)  # noqa: S311 - no secret
        self._most = most_workers

    def suffer(self, moments: Sequence[str]) -> None:
        """One death at each of these moments, with two or more workers training before each."""
        for moment in moments:
            if len(self._alive) < (3 if moment in AT_A_CHANGE else 2):
                self._fill_up()
            if moment == ALONE:
                self._die_alone()
            else:
                (self._die_at_a_change if moment in AT_A_CHANGE else self._die_in_a_step)(moment)
        self._fill_up()

    def costs(self) -> dict[str, list[float]]:
        """Seconds without a step, of the survivors, by kind of death.

        Zero where nobody stood still for it: the victim was no member yet, or the only one.
        """
        stalls = {
            worker: generation["stall_seconds"]
            for generation in self.job.service.generations
            for worker in generation["lost_workers"]
        }
        found: dict[str, list[float]] = {}
        for kill in self.kills:
            found.setdefault(kill.moment, []).append(stalls.get(kill.worker, 0.0))
        return found

    @property
    def unreported(self) -> list[Kill]:
        """Deaths of members in a step that no generation tells of."""
        told = {w for g in self.job.service.generations for w in g["lost_workers"]}
        return [kill for kill in self.kills if kill.moment in IN_A_STEP and kill.worker not in told]

    # -- deaths --------------------------------------------------------------------------------

    def _die_in_a_step(self, moment: str) -> None:
        is_for_the_first = moment == "checkpoint"
        victim = self._first if is_for_the_first else self._chance.choice(self._training)
        self.job.doom(victim, moment, passing=1 if is_for_the_first else self._chance.randint(1, 5))
        self._bury(victim, moment)

    def _die_at_a_change(self, moment: str) -> None:
        """Of a grow by one, or of a shrink when the job has all it may have."""
        job = self.job
        is_grow = len(self._alive) < self._most
        if moment in BY_THE_JOINER or (moment == "transfer" and not is_grow):
            if not is_grow:
                job.resize(self._most - 1)
                job.wait_for_workers(self._most - 1)
            victim = job.next_worker if moment in BY_THE_JOINER else self._first
            self.job.doom(victim, moment, passing=1)
            job.resize(len(self._alive) + 1)
        else:
            victim = self._first if moment == "transfer" else self._chance.choice(self._training)
            victim = self._first if not is_grow else victim
            self.job.doom(victim, moment, passing=1)
            job.resize(len(self._alive) + (1 if is_grow else -1))
        self._bury(victim, moment)

    def _die_alone(self) -> None:
        """The newcomer cannot go on with what it has got; the newest checkpoint counts."""
        job = self.job
        job.resize(1)
        job.wait_for_workers(1)
        job.wait("there is a checkpoint", job.checkpoints)
        victim = self._first
        job.doom(victim, "between portions")
        job.resize(2)
        self._bury(victim, ALONE)

    def _bury(self, worker: str, moment: str) -> None:
        process = self.job.processes[worker]
        self.job.wait(f"{worker} dies in {moment}", lambda: process.poll() is not None)
        self.kills.append(Kill(worker=worker, moment=moment))
        self.job.wait_for_steps(2)

    # -- who is there --------------------------------------------------------------------------

    @property
    def _alive(self) -> list[str]:
        wanted = self.job.service.desired["workers"]
        return [worker for worker in wanted if self.job.processes[worker].poll() is None]

    @property
    def _training(self) -> list[str]:
        """Those of the newest generation that live, the main worker first."""
        members = self.job.members
        return [worker for worker in members if self.job.processes[worker].poll() is None]

    @property
    def _first(self) -> str:
        return self._training[0]

    def _fill_up(self) -> None:
        count = self._chance.randint(3, self._most)
        self.job.resize(count)
        self.job.wait_for_workers(count)


def chosen_moments(count: int, *, seed: int) -> list[str]:
    """Each kind about as often as any other, in a random order."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    kinds = list(ALL)
    chance.shuffle(kinds)
    moments = [kinds[number % len(kinds)] for number in range(count)]
    chance.shuffle(moments)
    return moments


def table(costs: dict[str, list[float]]) -> str:
    """What each kind of death cost, for people."""
    lines = [f"{'moment':<15}{'deaths':>7}{'median stall':>14}{'longest':>9}"]
    for moment in [*(m for m in ALL if m in costs), "all"]:
        stalls = costs[moment] if moment in costs else [s for each in costs.values() for s in each]
        lines.append(f"{moment:<15}{len(stalls):>7}{median(stalls):>12.2f} s{max(stalls):>7.2f} s")
    return "\n".join(lines)
