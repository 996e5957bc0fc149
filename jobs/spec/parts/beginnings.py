"""From what does a job begin that does not begin afresh? Another's checkpoint, or a model.

Errors read `what is wrong | what to do`.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, model_validator

from jobs.spec.names import check_text
from jobs.spec.part import SpecPart

Name = Annotated[str, StringConstraints(min_length=1, max_length=160), AfterValidator(check_text)]
Pattern = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(check_text)
]
MOST_PATTERNS: Final = 100  # of names of weights
_FURTHEST: Final = 10**18 - 1  # as a checkpoint's name may say


def _check_step(step: object) -> object:
    is_step = isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= _FURTHEST
    if not (is_step or step in (None, "latest", "best")):
        raise ValueError("is no step | Use a number, latest or best.")
    return step


Step = Annotated[
    Annotated[int, Field(ge=0, le=_FURTHEST)] | Literal["latest", "best"] | None,
    BeforeValidator(_check_step),  # says what is wrong in one sentence, not one for each kind
]


class StartFrom(SpecPart):
    """Which checkpoint, and how much of it: its weights, or all of the training."""

    job: Name | None = None  # an id, or the name of a job of the team
    step: Step = None  # of the job; None: its latest
    model: Name | None = None  # of the team: NAME, NAME@VERSION or NAME@ALIAS
    what: Literal["weights", "all"] = "weights"
    skip: Annotated[list[Pattern], Field(max_length=MOST_PATTERNS)] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        if (self.job is None) == (self.model is None):
            raise ValueError(
                "names not exactly one of job and model | Name the job whose checkpoint it is, or a"
                " model of the team."
            )
        if self.model is not None and self.step is not None:
            raise ValueError(
                "names a step of a model | Leave step out: each version of a model is of one step."
            )
        if self.skip and self.what != "weights":
            raise ValueError(
                "skips some of all | Use what: weights; the rest of the training is of all weights."
            )
        return self
