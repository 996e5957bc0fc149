"""Which simulations have been run already? Results on disk, so that a long run can be taken up.

A result belongs to a trial and to the code that made it: a change of the planner or the simulator
makes all results out of date.
"""

from __future__ import annotations

import hashlib
import pickle
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from autoscaler.simulation.engine.comparison.comparison import Run

ROOT: Final = Path(__file__).resolve().parents[2]
CODE: Final = (
    "autoscaler/planning",
    "autoscaler/simulation/engine",
    "benchmarks/reproduction/experiments/later_schedulers.py",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """A folder with one file per simulation."""

    folder: Path

    @classmethod
    def within(cls, folder: Path) -> Store:
        """The results of this code; those of other code are removed."""
        mine = folder / _fingerprint()
        for other in folder.glob("*"):
            if other != mine:
                shutil.rmtree(other)
        mine.mkdir(parents=True, exist_ok=True)
        return cls(folder=mine)

    def get(self, trial: object) -> Run | None:
        path = self._path(trial)
        return cast("Run", pickle.loads(path.read_bytes())) if path.exists() else None  # noqa: S301 - our own

    def put(self, trial: object, run: Run) -> None:
        path = self._path(trial)
        part = path.with_suffix(".part")
        part.write_bytes(pickle.dumps(run))
        part.replace(path)

    def _path(self, trial: object) -> Path:
        """Trials are values: what they print is what they are."""
        return self.folder / f"{hashlib.sha256(repr(trial).encode()).hexdigest()}.pickle"


def _fingerprint() -> str:
    digest = hashlib.sha256()
    for place in CODE:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
