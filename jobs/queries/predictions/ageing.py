"""What does a prediction still say when it is old? Its job has gone on since, at whatever speed.

As long as a prediction is young, the time that was left is less by the time that has passed. Later
on a job may have fared otherwise than was predicted, and what it has done since tells more:

    time left now = time left then · work left now / work left then
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

OLD_AFTER: Final = timedelta(seconds=60)
"""Four looks ahead come in that time, where processors have time for them and something happens."""
_MOST_AGAIN: Final = 10.0  # times the work: a job that is told to be longer, or has lost its work


def old_at(prediction: Mapping[str, Any]) -> datetime:
    """Return the moment from which the prediction is old."""
    return datetime.fromisoformat(prediction["made_at"]) + OLD_AFTER


def finish_now(
    prediction: Mapping[str, Any], *, now: datetime, has_started: bool, samples_left: int
) -> Mapping[str, Any] | None:
    """Return when the job of a stored prediction finishes, with what is known by now.

    An old prediction of a job that waits longer than was predicted is put off by as much.
    """
    finish: Mapping[str, Any] | None = prediction["finish"]
    begins, left = _beginning(prediction), 1.0
    if finish is None or begins is None or now < old_at(prediction):
        return finish
    if has_started:
        then = prediction.get("samples_left")
        if not then or samples_left <= 0:
            return finish  # its length is not known
        begun, left = now, min(samples_left / then, _MOST_AGAIN)
    else:
        begun = max(begins, now)
    return {name: _moved(moment, begins, begun, left) for name, moment in finish.items()}


def _beginning(prediction: Mapping[str, Any]) -> datetime | None:
    """Return when the job begins to train, as predicted; None: later than was looked ahead."""
    start = prediction["start"]
    moment = prediction["made_at"] if start is None else start["p50"]
    return None if moment is None else datetime.fromisoformat(moment)


def _moved(moment: str | None, begins: datetime, begun: datetime, left: float) -> str | None:
    if moment is None:
        return None
    trains = max(datetime.fromisoformat(moment) - begins, timedelta())
    return (begun + trains * left).isoformat()
