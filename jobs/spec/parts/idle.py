"""What is to become of a job that holds GPUs and does not use them?"""

from __future__ import annotations

from typing import Annotated, Final, Literal

from jobs.spec.part import SpecPart
from jobs.spec.quantities import Duration

_WEEK: Final = 7 * 24 * 3600.0


class Idle(SpecPart):
    """What is done with a job that is idle, and after how long."""

    after: Annotated[float, Duration(at_least=60, at_most=_WEEK)]
    then: Literal["shrink", "pause", "warn"] = "warn"
