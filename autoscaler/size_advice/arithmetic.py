"""What did each worker of a job bring, and with which range would it have wasted less?

The speed of a size is what was measured there or, where that is missing, what the fitted model
says if it is sure enough. The smallest size with a measured speed is the measure of all others:

    efficiency of k workers    (speed(k) / k) / (speed(smallest) / smallest)
    gain of the last worker    ((speed(k) - speed(k')) / (k - k')) / (speed(smallest) / smallest)

with k' the next smaller size that is known. The *knee* is where one stops who goes from the
smallest size to larger ones for as long as each worker more brings at least half of what the first
ones bring. Nothing is said of sizes beyond those that were measured.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

HALF: Final = 0.5
SURE: Final = 0.15  # guessed: with a larger relative error the model's word is none
_WORTH_SAYING: Final = 0.02  # guessed: of the GPU time; less is not worth a slower job


class SizeVerdict(StrEnum):
    """What is advised."""

    UNKNOWN = "unknown"  # too little was measured
    KEEP = "keep"  # every size that was tried was worth its GPUs
    FEWER = "fewer"  # with fewer workers at most, much is saved and little lost


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSize:
    """A number of workers: how long it trained, and how fast it was, or is said to be."""

    workers: int
    seconds: float = 0.0
    measured: float | None = None  # samples per second
    predicted: float | None = None
    relative_error: float | None = None  # of the prediction

    @property
    def rate(self) -> float | None:
        if self.measured is not None:
            return self.measured
        is_sure = self.relative_error is not None and self.relative_error <= SURE
        return self.predicted if is_sure else None


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedSize:
    """A size with what it was worth; None: its speed is not known."""

    tried: TriedSize
    efficiency: float | None
    gain_of_last: float | None  # None, too, for the smallest


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestedRange:
    """A range of workers, with what it would have cost and saved while the job ran."""

    min_workers: int
    max_workers: int
    lost_seconds: float
    lost_share: float  # of the time that it trained
    saved_gpu_seconds: float
    saved_share: float  # of the GPU time that it trained


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeAdvice:
    """All that is told of a job's sizes."""

    verdict: SizeVerdict
    why: str  # where nothing is advised; else empty
    sizes: Sequence[JudgedSize]
    gpu_seconds: float
    gpu_seconds_below_half: float
    knee: int | None = None
    suggested: SuggestedRange | None = None


def advise(
    tried: Sequence[TriedSize],
    *,
    gpus_per_worker: int,
    min_workers: int,
    allowed: Collection[int] | None = None,
) -> SizeAdvice:
    """Judge the sizes that a job had, and those between, and suggest a range of workers.

    The range ends at a size that was measured or that the job allows; None: it allows all.
    """
    sizes = _judged(tried)
    below = (
        one.tried.seconds * one.tried.workers
        for one in sizes
        if one.efficiency is not None and one.efficiency < HALF
    )
    found = SizeAdvice(
        verdict=SizeVerdict.UNKNOWN,
        why=why_not(tried),
        sizes=sizes,
        gpu_seconds=_time(tried)[1] * gpus_per_worker,
        gpu_seconds_below_half=sum(below) * gpus_per_worker,
    )
    if found.why:
        return found
    knee = _knee(sizes, allowed)
    is_allowed = allowed is None or knee in allowed
    least = min(min_workers, knee) if is_allowed else knee
    suggested = _suggested(tried, knee, gpus_per_worker=gpus_per_worker, least=least)
    if suggested is None or suggested.saved_share < _WORTH_SAYING:
        return replace(found, verdict=SizeVerdict.KEEP, knee=knee)
    return replace(found, verdict=SizeVerdict.FEWER, knee=knee, suggested=suggested)


def why_not(tried: Sequence[TriedSize]) -> str:
    """Say why nothing can be advised; empty: something can."""
    measured = [one for one in tried if one.measured is not None]
    if not measured:
        return "How fast it was has not been measured: workers tell their step times."
    if len(measured) == 1:
        only = workers_in_words(measured[0].workers)
        return (
            f"Its speed was measured with {only} only, so what another one would have brought is"
            " not known. Give it a range of workers, and it is."
        )
    if not any(one.seconds > 0 for one in tried):
        return "It has not trained for any time yet."
    return ""


def _judged(tried: Sequence[TriedSize]) -> Sequence[JudgedSize]:
    ordered = sorted(tried, key=lambda one: one.workers)
    known = [one for one in ordered if one.rate is not None]
    base = next((one for one in ordered if one.measured is not None), None)
    if base is None or not base.measured:
        return [JudgedSize(tried=one, efficiency=None, gain_of_last=None) for one in ordered]
    alone = base.measured / base.workers
    gains = {
        more.workers: ((more.rate or 0.0) - (fewer.rate or 0.0))
        / (more.workers - fewer.workers)
        / alone
        for fewer, more in pairwise(known)
    }
    return [
        JudgedSize(
            tried=one,
            efficiency=None if one.rate is None else one.rate / one.workers / alone,
            gain_of_last=gains.get(one.workers),
        )
        for one in ordered
    ]


def _knee(sizes: Sequence[JudgedSize], allowed: Collection[int] | None) -> int:
    """Return the largest size up to which each step was worth it, of those that were measured.

    The speeds of sizes between two that were measured come from a model, which may have a dent
    there; so it is the last step that is worth it which counts, seen from the smallest size. Those
    that the job does not allow are left out.
    """
    measured = [one.tried for one in sizes if one.tried.measured]
    (least, most) = (measured[0], measured[-1])
    alone = (least.measured or 0.0) / least.workers
    knee, rate_at_knee = least.workers, least.measured or 0.0
    for one in sizes:
        workers, rate = one.tried.workers, one.tried.rate
        if rate is None or not knee < workers <= most.workers:
            continue
        if allowed is not None and workers not in allowed and one.tried.measured is None:
            continue
        if (rate - rate_at_knee) / (workers - knee) / alone >= HALF:
            knee, rate_at_knee = workers, rate
    return knee


def _suggested(
    tried: Sequence[TriedSize], knee: int, *, gpus_per_worker: int, least: int
) -> SuggestedRange | None:
    """Return what it would have been like with the knee in place of each larger size."""
    rates = {one.workers: one.rate for one in tried}
    rate = rates.get(knee)
    seconds, gpu_seconds = _time(tried)
    if not rate or not seconds:
        return None
    then: list[TriedSize] = []
    for one in tried:
        if one.workers <= knee or not one.seconds:
            then.append(one)
        elif one.rate is None:
            return None
        else:
            longer = one.seconds * one.rate / rate
            then.append(TriedSize(workers=knee, seconds=max(longer, one.seconds)))
    seconds_then, gpu_seconds_then = _time(then)
    saved = gpu_seconds - gpu_seconds_then
    return SuggestedRange(
        min_workers=least,
        max_workers=knee,
        lost_seconds=seconds_then - seconds,
        lost_share=(seconds_then - seconds) / seconds,
        saved_gpu_seconds=saved * gpus_per_worker,
        saved_share=saved / gpu_seconds,
    )


def _time(tried: Sequence[TriedSize]) -> tuple[float, float]:
    return (
        sum(one.seconds for one in tried),
        sum(one.seconds * one.workers for one in tried),
    )


def wasted_share(advice: SizeAdvice) -> float:
    """Return what share of the GPU time of workers beyond the knee brought nothing.

    A worker that brings as much as each of the first ones wastes nothing.
    """
    base = next((one.tried for one in advice.sizes if one.tried.measured), None)
    at_knee = next((one.tried for one in advice.sizes if one.tried.workers == advice.knee), None)
    if base is None or not base.measured or at_knee is None or at_knee.rate is None:
        return 0.0
    gained = held = 0.0
    for one in (size.tried for size in advice.sizes if size.tried.workers > at_knee.workers):
        if one.rate is not None:
            gained += one.seconds * max(one.rate - at_knee.rate, 0.0)
            held += one.seconds * (one.workers - at_knee.workers)
    return max(1 - gained / held / (base.measured / base.workers), 0.0) if held else 0.0


def workers_in_words(count: int) -> str:
    return f"{count} worker{'' if count == 1 else 's'}"
