"""From what does a job begin that does not begin afresh? From a checkpoint of another."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

Name = Annotated[str, StringConstraints(min_length=1, max_length=160), AfterValidator(check_text)]
_FURTHEST: Final = 10**18 - 1  # as a checkpoint's name may say


def _check_step(step: object) -> object:
    is_step = isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= _FURTHEST
    if not (is_step or step in ("latest", "best")):
        raise ValueError("is no step | Use a number, latest or best.")
    return step


Step = Annotated[
    Annotated[int, Field(ge=0, le=_FURTHEST)] | Literal["latest", "best"],
    BeforeValidator(_check_step),  # says what is wrong in one sentence, not one for each kind
]


class StartFrom(SpecPart):
    """Which checkpoint, and how much of it: its weights, or all of the training."""

    job: Name  # an id, or the name of a job of the team
    step: Step = "latest"
    what: Literal["weights", "all"] = "weights"
