"""Do real jobs train on beside a thousand simulated ones? Two, on the slots that are real."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from local_stack.demo import scripts
from local_stack.soak.measured_stack import REAL_POOL, REAL_SLOTS, MeasuredStack
from local_stack.soak.users.requests import Caller

SCRIPT: Final = "steady_line.py"
BATCH: Final = 16


@dataclass(slots=True, kw_only=True)
class RealJobs:
    """Two elastic jobs with one worker each, that go on until the stack is stopped."""

    caller: Caller
    ids: tuple[str, ...]

    @classmethod
    def submitted(cls, stack: MeasuredStack, caller: Caller) -> RealJobs:
        """Raises: RuntimeError: the service takes none."""
        found = []
        for number in range(REAL_SLOTS):
            answer = caller.post("/jobs", _spec(f"real-{number}", stack))
            if not answer.is_good:
                raise RuntimeError(f"A real job was refused: {answer.document}")
            found.append(answer.document["id"])
        return cls(caller=caller, ids=tuple(found))

    def steps(self) -> tuple[int, ...]:
        """Return how many steps each has made."""
        answers = [self.caller.get(f"/jobs/{one}").document for one in self.ids]
        return tuple(int((one or {}).get("step") or 0) for one in answers)


def _spec(name: str, stack: MeasuredStack) -> dict[str, Any]:
    command = scripts.of_checkout(stack.checkout.root).command(
        SCRIPT, "--batch-size", str(BATCH), "--seconds-per-sample", "0.02"
    )
    return {
        "name": name,
        "pool": REAL_POOL,
        "command": command,
        "elastic": {
            "mode": "hot",
            "min_workers": 1,
            "max_workers": 1,
            "registration_timeout": "5m",
        },
        "batch": {"global_batch_size": BATCH},
        "checkpoint": {"interval": "20s"},
    }
