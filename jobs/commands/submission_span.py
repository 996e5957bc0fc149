"""How long did a submission take? The span at which the trace of its jobs begins, or goes on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from django.db import transaction
from django.utils import timezone
from tracing import sending
from tracing.spans import SpanPlace, SpanValue, TraceSpan, place_of

from jobs.errors import JobsError
from jobs.models import Job

_NAME: Final = "submit"


@dataclass(slots=True, kw_only=True)
class SubmissionTrace:
    """Where the submission is in a trace, and what it has come to so far."""

    place: SpanPlace | None  # None: nobody traces it
    attributes: dict[str, SpanValue] = field(default_factory=dict)

    def bind(self, jobs: Sequence[Job]) -> None:
        """Have the jobs know whose trace they are in; nothing is stored."""
        if self.place is not None:
            for job in jobs:
                job.trace = self.place.header

    def made(self, ids: Sequence[str], *, team: str, is_new: bool) -> None:
        """Note what came of it: ids alone, nothing of what somebody wrote."""
        self.attributes = {
            "concertina.team": team,
            "concertina.jobs": len(ids),
            "concertina.job": ids[0],
            "concertina.is_repeated": not is_new,
        }


@contextmanager
def traced_submission(header: str) -> Iterator[SubmissionTrace]:
    """Tell of what happens within, in the trace that `header` names, or in one of its own."""
    if not sending.is_on():
        yield SubmissionTrace(place=None)
        return
    began_at, parent = timezone.now(), place_of(header)
    trace = SubmissionTrace(place=sending.begin(_NAME, parent))
    error = ""
    try:
        yield trace
    except Exception as problem:
        error = problem.code if isinstance(problem, JobsError) else type(problem).__name__
        raise
    finally:
        if trace.place is not None:
            span = TraceSpan(
                name=_NAME,
                place=trace.place,
                parent=parent,
                began_at=began_at,
                ended_at=timezone.now(),
                answers_a_request=True,
                attributes=trace.attributes,
                error=error,
            )
            if error:  # whatever is around it may be rolled back
                sending.send(span)
            else:
                transaction.on_commit(lambda: sending.send(span))
