"""Which trials are submitted next? A few at a time, as places get free."""

from __future__ import annotations

from typing import Final

from django.db.models import Q

from jobs.lifecycle import LIVE, JobState
from jobs.models import Job
from jobs.spec.bulk import SentSpec
from sweeps import specs
from sweeps.models import Sweep
from sweeps.search import terms

MOST_AT_ONCE: Final = 100  # trials in one round of one sweep
_RESTING: Final = Q(state=JobState.PAUSED) | Q(
    state=JobState.STOPPING, ends_as__in=[JobState.PAUSED, JobState.CANCELLED]
)


def next_trials(sweep: Sweep) -> list[SentSpec]:
    """Return the trials for which there are places now; mostly none, then in one statement.

    A trial that waits at a rung takes no place, and one that is let go on comes before new ones.
    The caller holds the array, so that what is read here of how many were made stays true.
    """
    wanted = terms.read(sweep.terms)
    if wanted.number_of_trials <= sweep.made or not sweep.array.is_open:
        return []
    busy = Job.objects.filter(array=sweep.pk, state__in=LIVE).exclude(_RESTING).count()
    if busy >= wanted.max_running:
        return []
    sweep.refresh_from_db(fields=["made"])
    most = min(wanted.max_running - busy, wanted.number_of_trials - sweep.made, MOST_AT_ONCE)
    if most <= 0:
        return []
    swept = specs.SweptSpec(document=sweep.spec, wanted=wanted, template=sweep.template)
    return specs.trials_of(swept, first=sweep.made + 1, most=most)
