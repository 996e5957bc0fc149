"""How much may a job use up before it is ended?"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from jobs.spec.quantities import Duration

_YEAR: Final = 365 * 24 * 3600.0

MaxDuration = Annotated[float, Duration(at_least=60, at_most=10 * _YEAR)]
BudgetGpuHours = Annotated[float, Field(ge=0.01, le=1e9, allow_inf_nan=False)]
