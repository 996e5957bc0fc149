"""Which jobs can be predicted, where one of them makes the simulation fail?"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Final

from autoscaler.planning.quarantine.culprits import culprits
from autoscaler.planning.quarantine.standing_still import with_only
from autoscaler.planning.snapshot.cluster_state import ClusterState
from autoscaler.simulation.engine.prediction.prediction import JobPrediction

Predict = Callable[[ClusterState], Mapping[str, JobPrediction]]

_MOST_TRIES: Final = 12  # guessed: each takes some seconds, in the background
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedJobs:
    """What was predicted, and which jobs made the simulation fail."""

    predictions: Mapping[str, JobPrediction] = field(default_factory=dict)
    failing: Mapping[str, Exception] = field(default_factory=dict)


def predict_what_can_be(
    state: ClusterState, *, predict: Predict, silent: Collection[str]
) -> PredictedJobs:
    """Predict what can be predicted; nothing of the `silent`, which stand still in the snapshot."""
    made: dict[str, JobPrediction] = {}

    def attempt(job_ids: frozenset[str]) -> Exception | None:
        try:
            found = predict(with_only(state, job_ids))
        except Exception as error:  # noqa: BLE001 - whatever it is, the others are predicted
            return error
        made.clear()
        made.update({job_id: one for job_id, one in found.items() if job_id in job_ids})
        return None

    looked_into = [job for job in state.jobs if job.job_id not in silent]
    problem = attempt(frozenset(job.job_id for job in looked_into))
    if problem is None:
        return PredictedJobs(predictions=made)
    _log.error("The future cannot be predicted.", exc_info=problem, extra={"action": "predict"})
    if attempt(frozenset()) is not None:
        return PredictedJobs()
    found = culprits(looked_into, attempt, known=problem, most_tries=_MOST_TRIES)
    return PredictedJobs(predictions=made, failing=found.failing)
