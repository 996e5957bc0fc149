"""Which kinds of jobs does a workload consist of? Six measured applications, and three made up.

The step times were fitted to the measurements published with Pollux (OSDI 2021): T4 GPUs, four per
node. Batch limits and restart costs are those of its and of Sia's (SOSP 2023) simulators, the
noise scales follow from the statistical efficiency of the largest batch in the same measurements,
at 2, 25, 60 and 95 % of training. Model sizes are our estimates, 4 bytes per parameter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from autoscaler.planning.snapshot.job_terms import BatchRange
from autoscaler.planning.speed.throughput import ThroughputModel
from autoscaler.simulation.engine.truth.profiles import Profile

_MEASURED_AT: Final = (0.02, 0.25, 0.60, 0.95)  # fractions of the training
_STRETCHES: Final = 20  # noise is constant over so many equal parts of the work
_NEVER_ONE: Final = 0.999  # an efficiency printed as 1 says only: too good to measure


def _step_time(*letters: float) -> ThroughputModel:
    """Make it of a_c, b_c, a_n, b_n, a_r, b_r and g, the letters of the formula in `throughput`."""
    a_c, b_c, a_n, b_n, a_r, b_r, g = letters
    return ThroughputModel(
        compute_fixed=a_c,
        compute_per_sample=b_c,
        in_node_fixed=a_r,
        in_node_per_worker=b_r,
        cross_node_fixed=a_n,
        cross_node_per_worker=b_n,
        overlap=g,
    )


def noise_of(
    base: int, largest: int, efficiencies: tuple[float, ...]
) -> tuple[tuple[float, float], ...]:
    """The noise scale over the work, from the efficiency of the largest batch where measured.

    phi = (EFF * b - b_base) / (1 - EFF), between the fractions on a straight line of log phi.
    """
    eff = np.minimum(efficiencies, _NEVER_ONE)
    phi = (eff * largest - base) / (1 - eff)
    starts = np.arange(_STRETCHES) / _STRETCHES
    between = np.exp(np.interp(starts + 0.5 / _STRETCHES, _MEASURED_AT, np.log(phi)))
    return tuple(zip(starts.tolist(), between.tolist(), strict=True))


CIFAR10: Final = Profile(
    name="cifar10-resnet18",
    model=_step_time(0.0103, 0.00078, 0.1306, 0.0027, 0.0408, 0.0047, 2.84),
    batch=BatchRange(base=128, minimum=128, maximum=4096, multiple_of=32, max_per_gpu=1024),
    samples=100 * 50_000,
    noise=noise_of(128, 4096, (0.06, 0.40, 0.63, 0.88)),
    model_bytes=45_000_000,
    restart_seconds=30.0,
)
IMAGENET: Final = Profile(
    name="imagenet-resnet50",
    model=_step_time(0.0629, 0.0045, 0.3090, 0.0066, 0.0021, 0.0512, 2.73),
    batch=BatchRange(base=200, minimum=200, maximum=12_800, multiple_of=20, max_per_gpu=200),
    samples=90 * 1_280_000,
    noise=noise_of(200, 12_800, (0.19, 0.33, 0.48, 0.54)),
    model_bytes=102_000_000,
    restart_seconds=250.0,
)
BERT: Final = Profile(
    name="bert-squad",
    model=_step_time(0.2436, 0.0570, 1.3979, 0.0095, 0.0, 0.1311, 2.10),
    batch=BatchRange(base=12, minimum=12, maximum=384, multiple_of=4, max_per_gpu=12),
    samples=2 * 88_641,
    noise=noise_of(12, 384, (0.54, 0.54, 0.75, 0.75)),
    model_bytes=440_000_000,
    restart_seconds=120.0,
)
DEEPSPEECH2: Final = Profile(
    name="deepspeech2",
    model=_step_time(0.0532, 0.0334, 0.9225, 0.0090, 0.5035, 0.0843, 4.37),
    batch=BatchRange(base=20, minimum=20, maximum=640, multiple_of=10, max_per_gpu=80),
    samples=80 * 7_140,
    noise=noise_of(20, 640, (0.04, 0.82, 0.99, 1.0)),
    model_bytes=165_000_000,
    restart_seconds=25.0,
)
YOLOV3: Final = Profile(
    name="yolov3",
    model=_step_time(0.1686, 0.0328, 0.8776, 0.0108, 0.0, 0.1547, 1.49),
    batch=BatchRange(base=8, minimum=8, maximum=512, multiple_of=4, max_per_gpu=8),
    samples=50 * 16_551,
    noise=noise_of(8, 512, (0.20, 0.47, 0.57, 0.91)),
    model_bytes=248_000_000,
    restart_seconds=45.0,
)
NCF: Final = Profile(
    name="ncf",
    model=_step_time(0.0069, 8.4e-7, 0.0144, 0.0006, 0.0029, 0.0012, 1.00),
    batch=BatchRange(base=256, minimum=256, maximum=32_768, multiple_of=256, max_per_gpu=32_768),
    samples=10 * 4_970_000,
    noise=noise_of(256, 32_768, (0.37, 0.90, 1.0, 1.0)),
    model_bytes=127_000_000,
    restart_seconds=30.0,  # guessed: no figure was published
)

APPLICATIONS: Final = (CIFAR10, IMAGENET, BERT, DEEPSPEECH2, YOLOV3, NCF)

# Three kinds by what bounds them, with the shares of a step on one GPU at the largest local batch:
# the gradient exchange costs 3 %, 30 % and 120 % of the computation within a node, twice that
# across nodes. All made up; the founding paper names such categories and no numbers.
COMPUTE_BOUND: Final = Profile(
    name="compute-bound",
    model=_step_time(0.02, 0.004, 0.06, 0.003, 0.03, 0.0015, 1.0),
    batch=BatchRange(base=64, minimum=64, maximum=2048, multiple_of=8, max_per_gpu=256),
    samples=1_000_000,
    model_bytes=100_000_000,
    restart_seconds=60.0,
)
BALANCED: Final = Profile(
    name="balanced",
    model=_step_time(0.02, 0.002, 0.32, 0.01, 0.16, 0.005, 1.0),
    batch=BatchRange(base=64, minimum=64, maximum=2048, multiple_of=8, max_per_gpu=256),
    samples=2_000_000,
    model_bytes=250_000_000,
    restart_seconds=60.0,
)
COMMUNICATION_BOUND: Final = Profile(
    name="communication-bound",
    model=_step_time(0.02, 0.001, 0.66, 0.02, 0.33, 0.01, 1.0),
    batch=BatchRange(base=64, minimum=64, maximum=2048, multiple_of=8, max_per_gpu=256),
    samples=4_000_000,
    model_bytes=550_000_000,
    restart_seconds=60.0,
)

KINDS: Final = (COMPUTE_BOUND, BALANCED, COMMUNICATION_BOUND)

PROFILES: Final = {profile.name: profile for profile in (*APPLICATIONS, *KINDS)}


def batches_on(profile: Profile, workers: int) -> BatchRange:
    """The batches of a job that ran on so many workers, with a base that gives each a sample.

    Whoever keeps both, as a scheduler without elasticity does, could not run it otherwise.
    """
    batch = profile.batch
    smallest = -(-workers // batch.multiple_of) * batch.multiple_of
    return replace(batch, base=min(max(batch.base, smallest), batch.maximum))
