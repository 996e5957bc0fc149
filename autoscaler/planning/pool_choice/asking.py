"""In which pool is each job that may be in several? Jobs ask pools, and pools answer by planning.

A job asks the pool that is worth most to it. If that pool's plan does not start it, the job asks
the next one; so does a job that was to start there and no longer is, because somebody asked later
who goes before. Nobody asks a pool twice. Whom none starts waits where it is already, if it may.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from autoscaler.planning.decisions.pool_offer import PoolAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from autoscaler.planning.decisions.pool_offer import PoolOffer
    from autoscaler.planning.pool_choice.wishes import Wishes
    from autoscaler.planning.snapshot.cluster_state import ClusterState

MOST_ROUNDS: Final = 12  # of asking; guessed: mostly there are no more than a job has pools
_DIGITS: Final = 1
_TAKEN: Final = frozenset({PoolAnswer.STARTS, PoolAnswer.OWED})

Places = dict[str, str]
"""The pool of each job that chooses, by its id."""
Answers = dict[str, PoolAnswer]
"""What its pool says to each of them, by its id."""


def placed(state: ClusterState, places: Mapping[str, str]) -> ClusterState:
    """Return the snapshot with these jobs in these pools."""
    if not places:
        return state
    jobs = (job.in_pool(places.get(job.job_id, job.pool)) for job in state.jobs)
    return replace(state, jobs=tuple(jobs))


@dataclass(slots=True, kw_only=True)
class PoolSearch:
    """How far the jobs are that look for a pool."""

    wishes: Wishes
    home: Mapping[str, str]  # where each of them is already
    places: Places = field(init=False)
    answers: dict[str, Answers] = field(init=False)  # by job and pool
    _left: dict[str, list[str]] = field(init=False)  # not asked yet

    def __post_init__(self) -> None:
        names = {job_id: [one.pool for one in offers] for job_id, offers in self.wishes.items()}
        self.places = {job_id: pools[0] for job_id, pools in names.items()}
        self._left = {job_id: pools[1:] for job_id, pools in names.items()}
        self.answers = {job_id: {} for job_id in names}

    def run(self, ask: Callable[[Places], Answers]) -> None:
        """Ask until nobody moves any more; what was asked last is how it is."""
        for _ in range(MOST_ROUNDS):
            if not self._heard(ask(self.places)):
                return
        for job_id, answers in self.answers.items():
            if answers.get(self.places[job_id]) not in _TAKEN:
                self.places[job_id] = self._resort(job_id)
        self._note(ask(self.places))

    def offers(self, job_id: str) -> tuple[PoolOffer, ...]:
        """Return what its pools offered and answered, best first.

        Rounded as it is told: with each report of any job there the numbers move a little.
        """
        answers, place = self.answers[job_id], self.places[job_id]
        return tuple(
            replace(
                one,
                speed=round(one.speed, _DIGITS),
                loss=round(one.loss, _DIGITS),
                is_chosen=one.pool == place,
                answer=answers.get(one.pool, PoolAnswer.NOT_ASKED),
            )
            for one in self.wishes[job_id]
        )

    def _heard(self, said: Answers) -> bool:
        """Move whoever was not taken on; returns whether anybody moved."""
        self._note(said)
        moved = False
        for job_id, answer in said.items():
            if answer in _TAKEN:
                continue
            left = self._left[job_id]
            place = left.pop(0) if left else self._resort(job_id)
            moved |= place != self.places[job_id]
            self.places[job_id] = place
        return moved

    def _note(self, said: Answers) -> None:
        for job_id, answer in said.items():
            self.answers[job_id][self.places[job_id]] = answer

    def _resort(self, job_id: str) -> str:
        """Return where it waits: where it is already, unless it can wait in another pool only."""
        answers, home = self.answers[job_id], self.home[job_id]
        waits = [pool for pool in answers if answers[pool] is not PoolAnswer.REFUSED]
        return home if home in waits or not waits else waits[0]
