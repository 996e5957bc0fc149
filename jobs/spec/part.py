"""What do all parts of a job spec have in common? They are strict: nothing unknown, no guessing."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class SpecPart(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
