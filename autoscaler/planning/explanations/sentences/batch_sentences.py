"""How is it said what the measured gradient noise makes of a range of batches?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from autoscaler.planning.speed.sample_worth import RangeWorth

_WHOLE_SAMPLES_FROM: Final = 10.0


def worth_of_range(worth: RangeWorth) -> str:
    """What a sample of the largest batch is worth and, if that is too little, what to do."""
    fact = (
        f"at {worth.largest} each sample is worth {worth.of_largest:.2g} of one at {worth.base},"
        f" by a gradient noise of {_samples(worth.noise_scale)} samples"
    )
    if not worth.reaches_too_far:
        return f"{fact}."
    return (
        f"{fact}; up to {worth.supported} it is at least half. If the number of samples is what"
        " counts, lower batch.global_batch_size.max."
    )


def _samples(noise_scale: float) -> str:
    is_large = noise_scale >= _WHOLE_SAMPLES_FROM
    return f"{noise_scale:,.0f}" if is_large else f"{noise_scale:.2g}"
