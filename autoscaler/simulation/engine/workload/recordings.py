"""Which of the known formats is this text in? Reads a recorded workload of any of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from autoscaler.simulation.engine.workload.importers import (
    cluster_log,
    concertina_csv,
    pai,
    pollux,
)
from autoscaler.simulation.engine.workload.importers.concertina_json import from_json
from autoscaler.simulation.engine.workload.importers.philly_json import read_philly_json
from autoscaler.simulation.engine.workload.importers.recording import Recording
from autoscaler.simulation.engine.workload.importers.table import (
    InvalidRecordingError,
    header_of,
    missing_from,
    shown,
)


class RecordingFormat(StrEnum):
    """See docs/planning/traces.md."""

    AUTO = "auto"
    CONCERTINA = "concertina"  # JSON or CSV
    PHILLY = "philly"  # JSON as published, or a log of any cluster with a line per job
    POLLUX = "pollux"
    PAI = "pai"


# The columns of each CSV, those first that no other format has.
_TABLES: Final = {
    RecordingFormat.CONCERTINA: ("our own format", concertina_csv.NEEDS),
    RecordingFormat.POLLUX: ("a workload of the Pollux simulator", pollux.NEEDS),
    RecordingFormat.PAI: ("the tasks of Alibaba's PAI", pai.NEEDS),
    RecordingFormat.PHILLY: ("a log of a cluster", cluster_log.NEEDS),
}


def read_recording(
    text: str,
    recording_format: RecordingFormat = RecordingFormat.AUTO,
    *,
    name: str,
    gpus_per_node: int = 8,
) -> Recording:
    """The workload a text holds; at least one job.

    Raises:
        InvalidTraceError, InvalidRecordingError: what is wrong with it, and where.
    """
    if recording_format is RecordingFormat.AUTO:
        recording_format = _guessed(text)
    recording = _read(text, recording_format, name, gpus_per_node)
    if not recording.trace.jobs:
        raise InvalidRecordingError(f"it has no jobs to replay. {recording.summary()}"[:-1])
    return recording


def _read(text: str, chosen: RecordingFormat, name: str, gpus_per_node: int) -> Recording:
    match chosen:
        case RecordingFormat.PHILLY if _is_json(text):
            return read_philly_json(text, name=name, gpus_per_node=gpus_per_node)
        case RecordingFormat.PHILLY:
            return cluster_log.read_log(text, name=name, gpus_per_node=gpus_per_node)
        case RecordingFormat.PAI:
            return pai.read_pai(text, name=name, gpus_per_node=gpus_per_node)
        case RecordingFormat.POLLUX:
            trace = pollux.read_pollux(text, name=name)
            return Recording(trace=trace, kind="A workload of the Pollux simulator")
        case _ if _is_json(text):
            return Recording(trace=from_json(text), kind="A trace of ours in JSON")
        case _:
            trace = concertina_csv.from_csv(text, name=name)
            return Recording(trace=trace, kind="A trace of ours as CSV")


def _is_json(text: str) -> bool:
    return _begins_with(text, "{") or _begins_with(text, "[")


def _begins_with(text: str, mark: str) -> bool:
    return text[:1000].lstrip("\ufeff \t\r\n").startswith(mark)


def _guessed(text: str) -> RecordingFormat:
    """Guess by its first character if it is JSON, else by its columns.

    Raises:
        InvalidRecordingError: no format has such columns; says which each of them has.
    """
    if _is_json(text):
        is_list = _begins_with(text, "[")
        return RecordingFormat.PHILLY if is_list else RecordingFormat.CONCERTINA
    header = header_of(text)
    if not any(header):
        raise InvalidRecordingError("the recording is empty; expected a header line")
    if pai.has_no_header(header):
        return RecordingFormat.PAI
    shares = {known: _share(header, needs) for known, (_, needs) in _TABLES.items()}
    best = max(shares, key=lambda known: shares[known])
    if shares[best] == 1:
        return best
    raise InvalidRecordingError(_no_format(header, best if shares[best] else None))


def _share(header: Sequence[str], needs: Sequence[Sequence[str]]) -> float:
    """Return the share that is there of the columns that are needed."""
    return 1 - len(missing_from(header, needs)) / len(needs)


def _no_format(header: Sequence[str], nearest: RecordingFormat | None) -> str:
    columns = shown(header)
    if nearest is not None:
        what, needs = _TABLES[nearest]
        missing = " and no column ".join(map(" or ".join, missing_from(header, needs)))
        return f"it looks most like {what}, but has no column {missing} among: {columns}"
    wanted = "\n".join(
        f"- {what}: {', '.join(map(' or '.join, needs))}" for what, needs in _TABLES.values()
    )
    return f"no known format has columns like: {columns}. Looked for\n{wanted}"
