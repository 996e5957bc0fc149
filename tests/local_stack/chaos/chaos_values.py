"""Values that tests of chaos begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from local_stack.chaos.observation.facts import JobFact
from local_stack.chaos.stacks.target_stack import TargetStack
from local_stack.checkout import Checkout
from local_stack.stack.stack import Options

NOWHERE = Path("/nowhere")


def a_stack(kind: type[TargetStack] = TargetStack, **changes: Any) -> TargetStack:
    """One that was never started."""
    fields: dict[str, Any] = {
        "checkout": Checkout(root=NOWHERE, state_dir=NOWHERE, runtime_dir=NOWHERE),
        "options": Options(),
        "url": "http://127.0.0.1:1",
        "tokens": {},
        "shared_dir": NOWHERE,
    }
    return kind(**{**fields, **changes})


def a_job(name: str, **changes: Any) -> JobFact:
    """One that runs and has done nothing yet."""
    fields: dict[str, Any] = {
        "id": name, "name": name, "state": "running", "reason": "", "message": "", "failures": 0,
        "step": 0, "samples": 0, "gpu_seconds": 0.0, "coordinator_term": 0,
    }  # fmt: skip
    return JobFact(**{**fields, **changes})
