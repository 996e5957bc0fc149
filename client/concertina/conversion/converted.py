"""A job spec as it comes to be of something of another system, and what is told beside it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST_NAME: Final = 80


class Source(StrEnum):
    """What wrote a file, or would read it."""

    SLURM = "slurm"
    DETERMINED = "determined"
    PYTORCH_JOB = "pytorchjob"


class Fate(StrEnum):
    """What became of something that stood there."""

    CHANGED = "changed"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class Remark:
    """Something that does not say here what it said there."""

    fate: Fate
    what: str
    why: str


@dataclass(slots=True)
class Converted:
    """The spec, and the remarks on it, in the order in which things stood there."""

    spec: dict[str, Any] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def put(self, path: str, value: Any) -> None:
        """Set a field by its path, such as `elastic.max_workers`."""
        *above, last = path.split(".")
        inner = self.spec
        for name in above:
            inner = inner.setdefault(name, {})
        inner[last] = value

    def put_name(self, name: str) -> None:
        """Set the name of the job, or the nearest that a job may bear."""
        plain = _NOT_IN_A_NAME.sub("-", name).strip("-._")[:_LONGEST_NAME]
        if not plain:
            self.left_out("name", "It has no letter or digit; this is a name to begin with.")
            plain = "converted"
        elif plain != name:
            self.changed("name", f"A job is called by letters, digits, '.', '-' and '_': {plain}.")
        self.put("name", plain)

    def put_workers(self, gpus: int, what: str) -> None:
        """Take a fixed number of GPUs for the most: a worker each, and one to begin with."""
        self.put("elastic.min_workers", 1)
        self.put("elastic.max_workers", max(gpus, 1))
        if gpus > 1:
            self.changed(
                what,
                f"It may have 1 to {gpus} workers with a GPU each, and starts when one is free."
                f" If it cannot train with fewer, set elastic.min_workers to {gpus}.",
            )

    def changed(self, what: str, why: str) -> None:
        self.remarks.append(Remark(Fate.CHANGED, what, why))

    def left_out(self, what: str, why: str) -> None:
        self.remarks.append(Remark(Fate.LEFT_OUT, what, why))
