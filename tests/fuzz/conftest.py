"""How long does a fuzzer try? A few examples in the suite, the same each time; minutes if asked.

A fuzzer is a test that is given `fuzz`: it says what examples are made of, and what must hold for
each. `make fuzz WHAT=spec MINUTES=10` runs `test_spec.py` on new examples until the time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from random import SystemRandom
from typing import Any, Final

import hypothesis
import pytest
from hypothesis.strategies import SearchStrategy

from tests.service.conftest import (  # noqa: F401 - fixtures
    admin_user,
    api,
    fresh_cache,
    job,
    language,
    pool,
    quick_passwords,
    submit,
    vision,
    workers,
)
from tests.service.world import people, world  # noqa: F401 - fixtures

_EXAMPLES_OF_A_ROUND: Final = 100
_CHECKS: Final = [check for check in hypothesis.HealthCheck if check.name != "nested_given"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fuzz:
    """Tries what must hold on many examples."""

    minutes: float  # 0: only the suite's few

    def __call__(
        self, examples: SearchStrategy[Any], holds: Callable[[Any], None], *, in_suite: int
    ) -> None:
        """Call `holds` with one example after the other.

        Where it raises, the smallest example for which it does is looked for and shown.
        """
        if not self.minutes:
            _try(examples, holds, most=in_suite, seed=None)
            return
        ends_at = time.monotonic() + 60 * self.minutes
        tried = 0
        while time.monotonic() < ends_at:
            seed = SystemRandom().getrandbits(64)
            print(f"{tried:,} examples held; next come those of seed {seed}", flush=True)
            _try(examples, holds, most=_EXAMPLES_OF_A_ROUND, seed=seed)
            tried += _EXAMPLES_OF_A_ROUND
        print(f"{tried:,} examples held")


def _try(
    examples: SearchStrategy[Any], holds: Callable[[Any], None], *, most: int, seed: int | None
) -> None:
    @hypothesis.settings(
        max_examples=most, derandomize=seed is None, database=None, suppress_health_check=_CHECKS
    )
    @hypothesis.given(examples)
    def each(example: Any) -> None:
        holds(example)

    (each if seed is None else hypothesis.seed(seed)(each))()


@pytest.fixture
def fuzz(request: pytest.FixtureRequest) -> Fuzz:
    return Fuzz(minutes=request.config.getoption("--fuzz-minutes"))
