"""How does a curve become a file here? As the service sends it; Parquet is made of its CSV."""

from __future__ import annotations

import tempfile
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from concertina.errors import BadInput

if TYPE_CHECKING:
    from collections.abc import Callable

_WHOLE: Final = ("generation", "step", "samples", "workers", "global_batch_size")


class CurveFormat(StrEnum):
    """What the end of a file's name says."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"

    @classmethod
    def of(cls, file: Path) -> CurveFormat:
        """Raises: BadInput."""
        try:
            return cls(file.suffix.removeprefix(".").lower())
        except ValueError:
            raise BadInput(
                f"{file} does not say how to write it. Let its name end in .csv, .json or .parquet."
            ) from None


def write(
    fetch: Callable[[str, Path], int], file: Path, written_as: CurveFormat | None = None
) -> None:
    """Write a curve; `fetch` brings it in a format of the service's.

    Raises:
        BadInput: it cannot be written, or not as Parquet on this machine.
        ConcertinaError: the service refuses it, or cannot be reached.
    """
    kind = written_as or CurveFormat.of(file)
    if kind is not CurveFormat.PARQUET:
        fetch(kind, file)
        return
    parquet = _PyArrow()
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "curve.csv"
        fetch(CurveFormat.CSV, table)
        try:
            parquet.write(table, file)
        except OSError as error:
            raise BadInput(f"{file} cannot be written: {error.strerror or error}.") from error


class _PyArrow:
    """Writes Parquet, where pyarrow is installed."""

    def __init__(self) -> None:
        """Raises: BadInput."""
        try:
            import pyarrow as pa  # noqa: PLC0415 - it takes 150 MB, and few write Parquet
            import pyarrow.csv  # noqa: PLC0415 - as above
            import pyarrow.parquet  # noqa: PLC0415 - as above
        except ImportError:
            raise BadInput(
                "Parquet is written by pyarrow, which is not installed here."
                " Run: pip install 'concertina-client[parquet]'. Or name a file that ends in .csv."
            ) from None
        self._arrow: Any = pa

    def write(self, table: Path, file: Path) -> None:
        """Write the rows of a CSV, batch by batch."""
        pa = self._arrow
        partial = file.with_name(f".{file.name}.part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with (
                pa.csv.open_csv(table, convert_options=self._types(table)) as rows,
                pa.parquet.ParquetWriter(partial, rows.schema) as writer,
            ):
                for batch in rows:
                    writer.write_batch(batch)
            partial.replace(file)
        finally:
            partial.unlink(missing_ok=True)

    def _types(self, table: Path) -> Any:
        pa = self._arrow
        with pa.csv.open_csv(table) as rows:
            names = rows.schema.names
        types = dict.fromkeys(names, pa.float64())
        types |= dict.fromkeys(_WHOLE, pa.int64())
        types["at"] = pa.timestamp("us", tz="UTC")
        return pa.csv.ConvertOptions(column_types=types, null_values=[""])
