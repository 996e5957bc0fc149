"""How does TensorBoard come to see a job? Its curve is written as TensorBoard's own event files.

They are written by the package `tensorboard`, which whoever wants to look has anyway. What a script
logged as `loss` is there as `loss`, and what the platform knows of it below `concertina/`.
"""

from __future__ import annotations

import csv
import tempfile
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_LOGGED: Final = "values."
_KNOWN: Final = (
    *("samples_per_second", "learning_rate", "workers", "global_batch_size", "epoch", "samples"),
    *("step_seconds", "communication_seconds"),
)
_LATE: Final = timedelta(minutes=2)  # guessed: points that are told so late are found, too
_Point = tuple[str, str]  # its generation and its step


class EventFiles:
    """The event files of one job in a folder, brought up to date as often as somebody asks."""

    def __init__(self, folder: Path, fetch: Callable[[Path, datetime | None], int]) -> None:
        """`fetch` brings the points since a moment as CSV. Raises: BadInput (no tensorboard)."""
        try:
            from tensorboard.compat.proto.event_pb2 import (  # noqa: PLC0415 - few need it
                Event,
            )
            from tensorboard.compat.proto.summary_pb2 import (  # noqa: PLC0415 - as above
                Summary,
            )
            from tensorboard.summary.writer.event_file_writer import (  # noqa: PLC0415 - as above
                EventFileWriter,
            )
        except ImportError:
            raise BadInput(
                "TensorBoard is not installed here."
                " Run: pip install 'concertina-client[tensorboard]'."
            ) from None
        self._event, self._summary = Event, Summary
        self._fetch = fetch
        self._since: datetime | None = None
        self._lately: dict[_Point, datetime] = {}
        try:
            self._writer: Any = EventFileWriter(str(folder))
        except OSError as error:
            raise BadInput(f"{folder} cannot be written: {error.strerror or error}.") from error

    def bring_up_to_date(self) -> int:
        """Add the points that are new; return how many. Raises: ConcertinaError."""
        count = 0
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder) / "curve.csv"
            self._fetch(table, self._since)
            for row in _rows(table):
                count += self._add(row)
        self._writer.flush()
        self._forget()
        return count

    def close(self) -> None:
        self._writer.close()

    def _add(self, row: dict[str, str]) -> bool:
        point, at = (row["generation"], row["step"]), datetime.fromisoformat(row["at"])
        if point in self._lately:
            return False
        self._lately[point] = at
        values = [
            self._summary.Value(tag=name, simple_value=float(value))
            for name, value in _scalars(row)
        ]
        step = int(row["step"])
        self._writer.add_event(
            self._event(wall_time=at.timestamp(), step=step, summary=self._summary(value=values))
        )
        return True

    def _forget(self) -> None:
        """Only what will be fetched once more has to be remembered."""
        if self._lately:
            self._since = max(self._lately.values()) - _LATE
            kept = self._lately.items()
            self._lately = {point: at for point, at in kept if at >= self._since}


def _rows(table: Path) -> Iterator[dict[str, str]]:
    with table.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _scalars(row: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, value in row.items():
        if not value:
            continue
        if name.startswith(_LOGGED):
            yield name.removeprefix(_LOGGED), value
        elif name in _KNOWN:
            yield f"concertina/{name}", value
