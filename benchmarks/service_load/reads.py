"""What does each read cost beside the reports of all jobs?"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from control_plane import database_roles
from local_stack.soak.counting.percentiles import percentile
from local_stack.soak.counting.reading import SpentBetween, StackGauge
from local_stack.soak.measured_stack import MeasuredStack
from local_stack.soak.users.requests import READS, Caller, RequestOutcome, refused


def read_beside(
    stack: MeasuredStack,
    gauge: StackGauge,
    *,
    ids: Sequence[str],
    rest: SpentBetween,
    of_reports: Collection[int],
    rounds: int,
) -> dict[str, dict[str, float]]:
    """Read each path several times; what reports cost meanwhile is taken off."""
    found = {}
    with Caller(stack) as caller:
        for path in READS:
            first = gauge.read(with_memory=False)
            calls = gauge.database.calls(database_roles.API)
            answers = [caller.get(path.format(job=ids[n % len(ids)])) for n in range(rounds)]
            spent = SpentBetween(first=first, last=gauge.read(with_memory=False))
            called = called_since(gauge, calls)
            statements = sum(count for one, count in called.items() if one not in of_reports)
            found[path] = _cost_of(answers, spent, rest, statements)
    return found


def called_since(gauge: StackGauge, before: Mapping[int, int]) -> dict[int, int]:
    """How often the api has called each statement since then."""
    now = gauge.database.calls(database_roles.API)
    return {
        one: count - before.get(one, 0) for one, count in now.items() if count != before.get(one)
    }


def _cost_of(
    answers: Sequence[RequestOutcome], spent: SpentBetween, rest: SpentBetween, statements: int
) -> dict[str, float]:
    share = spent.seconds / rest.seconds
    seconds = spent.processor_seconds("api") - share * rest.processor_seconds("api")
    return {
        "p95_seconds": percentile([one.seconds for one in answers], 0.95) or 0.0,
        "statements": statements / len(answers),
        "ms": max(1000 * seconds / len(answers), 0.0),
        "bytes": max(one.size for one in answers),
        "failed": len(refused(answers)),
    }
