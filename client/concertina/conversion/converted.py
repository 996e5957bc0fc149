"""A job spec as it comes to be of something of another system, and what is told beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")
_NOT_IN_A_LABEL: Final = re.compile(r"[^A-Za-z0-9._/-]+")
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_LONGEST_NAME: Final = 80
LONGEST_WORD: Final = 4096  # of a command or an environment, as the service bounds it


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

    def put_labels(self, labels: Mapping[str, str]) -> None:
        """Set labels, each under the nearest name that a label may bear."""
        kept: dict[str, str] = {}
        for name, value in labels.items():
            plain = _NOT_IN_A_LABEL.sub("-", name).strip("-._/")[:_LONGEST_NAME]
            if not plain or plain in kept or len(value) > LONGEST_WORD:
                self.left_out(f"label {name}", "Set another in `labels`.")
                continue
            if plain != name:
                self.changed(f"label {name}", f"It is called {plain}.")
            kept[plain] = value
        if kept:
            self.put("labels", kept)

    def put_environment(self, env: Mapping[str, str]) -> None:
        """Set variables, as far as an environment can have them."""
        kept = {name: value for name, value in env.items() if _VARIABLE.fullmatch(name)}
        for name in env.keys() - kept.keys():
            why = "A variable is called by letters, digits and '_', and no digit comes first."
            self.left_out(f"env {name}", why)
        if kept:
            self.put("env", kept)

    def changed(self, what: str, why: str) -> None:
        self._tell(Remark(Fate.CHANGED, what, why))

    def left_out(self, what: str, why: str) -> None:
        self._tell(Remark(Fate.LEFT_OUT, what, why))

    def _tell(self, remark: Remark) -> None:
        if remark not in self.remarks:
            self.remarks.append(remark)
