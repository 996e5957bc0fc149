"""How far does the measured gradient noise support a job's range of batches?"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from autoscaler.planning.explanations.sentences.batch_sentences import worth_of_range
from autoscaler.planning.speed.sample_worth import RangeWorth
from jobs.models import Job
from jobs.queries.extents import extent_of


class BatchWorthSerializer(serializers.Serializer[Any]):
    """What a sample of the largest batch counts, by the gradient noise as it was measured last."""

    base = serializers.IntegerField()
    largest = serializers.IntegerField()
    of_largest = serializers.FloatField(
        help_text="What a sample of the largest batch is worth, in samples of the base batch."
    )
    supported = serializers.IntegerField(
        help_text="Up to this batch of the range, a sample is worth at least half."
    )
    reaches_too_far = serializers.BooleanField(help_text="At the largest batch it is not.")
    message = serializers.CharField()


def batch_worth(job: Job) -> dict[str, Any] | None:
    """Return the document; None where there is nothing to say."""
    size = extent_of(job).batch.global_batch_size
    worth = RangeWorth.of(base=size.base, largest=size.max, noise_scale=job.measured_noise_scale)
    if worth is None:
        return None
    said = worth_of_range(worth)
    return {
        "base": worth.base,
        "largest": worth.largest,
        "of_largest": worth.of_largest,
        "supported": worth.supported,
        "reaches_too_far": worth.reaches_too_far,
        "message": said[0].upper() + said[1:],
    }
