"""Which of the known formats is this text in? Reads a recorded workload of any of them."""

from __future__ import annotations

from enum import StrEnum

from autoscaler.simulation.engine.workload.importers.concertina_csv import from_csv
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json
from autoscaler.simulation.engine.workload.importers.philly import read_philly
from autoscaler.simulation.engine.workload.importers.pollux import read_pollux
from autoscaler.simulation.engine.workload.importers.table import InvalidRecordingError, header_of
from autoscaler.simulation.engine.workload.trace import Trace


class RecordingFormat(StrEnum):
    """See docs/traces.md."""

    AUTO = "auto"
    CONCERTINA = "concertina"  # JSON or CSV
    PHILLY = "philly"
    POLLUX = "pollux"


def read_recording(
    text: str,
    recording_format: RecordingFormat = RecordingFormat.AUTO,
    *,
    name: str,
    gpus_per_node: int = 8,
) -> Trace:
    """The workload a text holds; at least one job.

    Raises:
        InvalidTraceError, InvalidRecordingError: what is wrong with it, and where.
    """
    if recording_format is RecordingFormat.AUTO:
        recording_format = _guessed(text)
    match recording_format:
        case RecordingFormat.PHILLY:
            trace = read_philly(text, name=name, gpus_per_node=gpus_per_node)
        case RecordingFormat.POLLUX:
            trace = read_pollux(text, name=name)
        case _:
            trace = from_json(text) if _is_json(text) else from_csv(text, name=name)
    if not trace.jobs:
        raise InvalidRecordingError("it has no jobs")
    return trace


def _is_json(text: str) -> bool:
    return text.lstrip().startswith("{")


def _guessed(text: str) -> RecordingFormat:
    """By what only that format has: JSON or a column `profile`, or a column `application`."""
    if _is_json(text):
        return RecordingFormat.CONCERTINA
    header = header_of(text)
    if "profile" in header:
        return RecordingFormat.CONCERTINA
    return RecordingFormat.POLLUX if "application" in header else RecordingFormat.PHILLY
