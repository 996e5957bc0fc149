"""Where in a stored spec is a field? For statements that read this field only, not the whole spec.

Whoever has the whole document reads it with `stored_spec.read`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

COLUMN: Final = "resolved_spec"  # of jobs, where `JobSpec.resolved` is stored


@dataclass(frozen=True, slots=True)
class StoredField:
    """The names that lead to a field, beginning with a field of `JobSpec`."""

    names: tuple[str, ...]

    @property
    def lookup(self) -> str:
        """Return how Django's queries of jobs name it."""
        return "__".join((COLUMN, *self.names))

    @property
    def sql(self) -> str:
        """Return how a statement with a table `job` reads it, as a JSON value."""
        return f"job.{COLUMN} #> '{{{','.join(self.names)}}}'"

    @property
    def sql_text(self) -> str:
        """The same as a text."""
        return f"job.{COLUMN} #>> '{{{','.join(self.names)}}}'"

    @property
    def json_path(self) -> str:
        """Return how a JSON path's filter names it."""
        return ".".join(("@", *self.names))


BATCH: Final = StoredField(("batch",))
DATA: Final = StoredField(("data",))
ELASTIC: Final = StoredField(("elastic",))
GPUS_PER_WORKER: Final = StoredField(("resources", "gpus_per_worker"))
IMAGE: Final = StoredField(("image",))
MAX_WORKERS: Final = StoredField(("elastic", "max_workers"))
MIN_WORKERS: Final = StoredField(("elastic", "min_workers"))
MODE: Final = StoredField(("elastic", "mode"))
NOTIFY_ON: Final = StoredField(("notify", "on"))
NOTIFY_TO: Final = StoredField(("notify", "to"))
POOLS: Final = StoredField(("pools",))
PREEMPTIBILITY: Final = StoredField(("preemptibility",))
SECRETS: Final = StoredField(("secrets",))
START_MODEL: Final = StoredField(("start_from", "model"))
