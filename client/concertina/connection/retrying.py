"""When is a failed request tried again, and for how long?

A restart of the service takes seconds, so a short question is repeated for about ten seconds,
and whoever waits for a job, which may take days, keeps trying for ten minutes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from concertina.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Result = TypeVar("Result")


class Clock(Protocol):
    """Time as a dependency, so that tests need not wait."""

    def now(self) -> float:
        """Seconds since some fixed moment; never goes back."""

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    """The machine's own."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Delays double from `first_delay_seconds` until `patience_seconds` are used up."""

    patience_seconds: float
    first_delay_seconds: float = 0.2
    longest_delay_seconds: float = 5.0

    def delays(self) -> Iterator[float]:
        delay = self.first_delay_seconds
        while True:
            yield delay
            delay = min(delay * 2, self.longest_delay_seconds)


BRIEF: Final = RetryPolicy(patience_seconds=10.0)
PATIENT: Final = RetryPolicy(patience_seconds=600.0)


class RemainingRetries:
    """What is left of a policy since the first failure in a row."""

    def __init__(
        self,
        policy: RetryPolicy,
        clock: Clock,
        on_delay: Callable[[Unreachable, float], None] = lambda _error, _seconds: None,
    ) -> None:
        self._policy = policy
        self._clock = clock
        self._on_delay = on_delay
        self.renew()

    def renew(self) -> None:
        """Something worked: the next failure is a first one."""
        self._give_up_at: float | None = None
        self._delays = self._policy.delays()

    def wait_after(self, error: Unreachable, *, is_repeatable: bool = True) -> None:
        """Announce and sit out the next delay. Raises: Unreachable, as `seconds_after`."""
        self._clock.sleep(self.seconds_after(error, is_repeatable=is_repeatable))

    def seconds_after(self, error: Unreachable, *, is_repeatable: bool = True) -> float:
        """Announce the next delay, and return how long it is.

        Raises:
            Unreachable: `error` itself, when trying again is useless, when what is not repeatable
                may have been done, or when patience has run out.
        """
        if error.was_sent and not is_repeatable:
            raise error
        now = self._clock.now()
        if self._give_up_at is None:
            self._give_up_at = now + self._policy.patience_seconds
        seconds = max(next(self._delays), error.retry_after_seconds)
        if not error.is_temporary or now + seconds > self._give_up_at:
            raise error
        self._on_delay(error, seconds)
        return seconds


def retry(
    action: Callable[[], Result], *, patience: RemainingRetries, is_repeatable: bool = True
) -> Result:
    """Call `action` until it answers.

    An action that is not repeatable is tried again only when the service cannot have seen it.

    Raises:
        Unreachable: the last failure, once patience has run out.
    """
    while True:
        try:
            return action()
        except Unreachable as error:
            patience.wait_after(error, is_repeatable=is_repeatable)
