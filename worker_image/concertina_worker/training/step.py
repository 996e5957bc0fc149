"""What is known of a step, while it is under way and when it counts?"""

from __future__ import annotations

from dataclasses import dataclass

from concertina_worker.samples.share import BatchShare


@dataclass(slots=True, kw_only=True)
class StepUnderWay:
    """A step that is neither lost nor committed yet."""

    share: BatchShare
    began_at: float
    compute_seconds: float = 0.0  # of this worker alone
    waited_seconds: float = 0.0  # for the others, at means and at the exchange
    is_last_micro_batch: bool = False
    is_exchanged: bool = False  # the exchange is over
    is_whole: bool = False  # and nobody was lost: `.grad` is the global gradient
    has_stepped: bool = False  # an optimizer
    learning_rate: float = 0.0  # that it stepped with


@dataclass(frozen=True, slots=True, kw_only=True)
class CommittedStep:
    """What a step was like."""

    generation: int
    step: int
    epoch: float
    samples: int
    batch: int  # samples of this step
    own_samples: int  # of them, this worker's share
    workers: int
    computing: int  # of them; the others have no state yet
    global_batch_size: int
    local_batch_size: int
    learning_rate: float
    waited_seconds: float  # for the others, at means and at the exchange
    compute_seconds: float  # from the first sample on, waiting left out
    noise_scale: float | None = None  # in samples; None: not known well enough
