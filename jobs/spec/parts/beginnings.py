"""From what does a job begin that does not begin afresh? From a checkpoint of another."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, StringConstraints

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

Name = Annotated[str, StringConstraints(min_length=1, max_length=160), AfterValidator(check_text)]
_FURTHEST: Final = 10**18  # as a checkpoint's name may say


def _check_step(step: int | str) -> int | str:
    is_step = isinstance(step, int) and 0 <= step < _FURTHEST
    if not (is_step or step in ("latest", "best")):
        raise ValueError("is no step | Use a number, latest or best.")
    return step


Step = Annotated[int | str, AfterValidator(_check_step)]


class StartFrom(SpecPart):
    """Which checkpoint, and how much of it: its weights, or all of the training."""

    job: Name  # an id, or the name of a job of the team
    step: Step = "latest"
    what: Literal["weights", "all"] = "weights"
