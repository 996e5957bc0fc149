from __future__ import annotations

import pytest

from concertina.connection.retrying import BRIEF, PATIENT, RemainingRetries, RetryPolicy, retry
from concertina.errors import RefusedByService, Unreachable
from tests.client.manual_clock import ManualClock

POLICY = RetryPolicy(patience_seconds=10, first_delay_seconds=1, longest_delay_seconds=4)


class Flaky:
    """Fails the first `failures` times."""

    def __init__(self, failures: int, **circumstances: bool | float) -> None:
        self.failures = failures
        self.calls = 0
        self.circumstances = circumstances

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.failures:
            raise Unreachable("gone", **self.circumstances)  # type: ignore[arg-type]
        return "there"


def test_an_answer_after_failures_is_given_with_doubled_delays_in_between() -> None:
    clock, action = ManualClock(), Flaky(3)
    assert retry(action, patience=RemainingRetries(POLICY, clock)) == "there"
    assert clock.naps == [1, 2, 4]


def test_delays_stop_growing() -> None:
    clock = ManualClock()
    patience = RemainingRetries(RetryPolicy(patience_seconds=60, longest_delay_seconds=1), clock)
    retry(Flaky(6), patience=patience)
    assert clock.naps == [0.2, 0.4, 0.8, 1, 1, 1]


def test_when_patience_runs_out_the_last_failure_is_told() -> None:
    clock = ManualClock()
    with pytest.raises(Unreachable, match="gone"):
        retry(Flaky(99), patience=RemainingRetries(POLICY, clock))
    assert sum(clock.naps) <= POLICY.patience_seconds


def test_a_delay_is_announced_before_it() -> None:
    clock = ManualClock()
    told: list[tuple[str, float, float]] = []
    patience = RemainingRetries(
        POLICY, clock, lambda error, seconds: told.append((error.message, seconds, clock.now()))
    )
    retry(Flaky(2), patience=patience)
    assert told == [("gone", 1, 1000.0), ("gone", 2, 1001.0)]


def test_the_service_may_ask_for_a_longer_delay() -> None:
    clock = ManualClock()
    retry(Flaky(1, retry_after_seconds=7.0), patience=RemainingRetries(POLICY, clock))
    assert clock.naps == [7]


def test_what_is_not_temporary_is_not_repeated() -> None:
    action = Flaky(1, is_temporary=False)
    with pytest.raises(Unreachable):
        retry(action, patience=RemainingRetries(POLICY, ManualClock()))
    assert action.calls == 1


def test_what_must_not_be_done_twice_is_repeated_only_if_it_was_never_sent() -> None:
    sent, unsent = Flaky(1, was_sent=True), Flaky(1, was_sent=False)
    with pytest.raises(Unreachable):
        retry(sent, patience=RemainingRetries(POLICY, ManualClock()), is_repeatable=False)
    retry(unsent, patience=RemainingRetries(POLICY, ManualClock()), is_repeatable=False)
    assert (sent.calls, unsent.calls) == (1, 2)


def test_a_refusal_is_never_repeated() -> None:
    clock = ManualClock()

    def refuse() -> str:
        raise RefusedByService("no")

    with pytest.raises(RefusedByService):
        retry(refuse, patience=RemainingRetries(POLICY, clock))
    assert clock.naps == []


def test_success_renews_patience() -> None:
    clock = ManualClock()
    patience = RemainingRetries(POLICY, clock)
    for _ in range(5):
        patience.renew()
        retry(Flaky(2), patience=patience)
    assert clock.naps == [1, 2] * 5


def test_waiting_for_a_job_is_more_patient_than_a_question() -> None:
    assert BRIEF.patience_seconds * 10 < PATIENT.patience_seconds
