"""How much work has a job left? What was declared, until the job itself proves that wrong."""

from __future__ import annotations

from typing import Final

TOLERANCE: Final = 1.05  # partial batches and the last epoch's padding are no lie


def remaining_samples(declared: int | None, done: float) -> int | None:
    """Declared minus done. A job far beyond its declaration is taken to have half its way to go.

    As much before it as behind it is the usual guess for a length nobody knows (Harchol-Balter and
    Downey 1997 measured it for processes). Without it, whoever declares too little would count as
    nearly done, and so be served first, until it really ends. None: nothing was declared.
    """
    if declared is None:
        return None
    if done > declared * TOLERANCE:
        return int(done)
    return max(declared - int(done), 0)
