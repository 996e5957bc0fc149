"""What do the service and a job's own processes say to each other?

Standard library only: the service imports this module and nothing else of the package, so that
torch never loads there. Three things are fixed here: the environment a process of a job is
started with, the exit codes it answers with, and the two documents of a *sync*.

A sync is one HTTP round trip from the job's coordinator to the service: observations go up
(`SyncReport`), the desired state comes down (`Desired`). Both are whole states, not steps, so that
a lost, repeated or late sync does no harm. The answer says how soon the next one is expected: twice
a second while something changes, more rarely while the job only trains. What happens on either
side meanwhile is told at once: the coordinator reports when it has news, and the service wakes it
by answering a request that waits (`WAKE_PATH`). Losing a wake-up costs no more than that pause.
"""

from __future__ import annotations

from enum import IntEnum, StrEnum
from typing import Final, NotRequired, TypedDict

SYNC_PATH: Final = "/internal/v1/jobs/{job_id}/sync"
WAKE_PATH: Final = "/internal/v1/jobs/{job_id}/wake"
"""A GET that the service holds: 200 as soon as the coordinator should report, 204 if there was no
reason for `HELD_SECONDS`. `?heard=1.5` says how many seconds ago the coordinator began its newest
report that was answered: a reason that is younger is answered at once."""
HELD_SECONDS: Final = 25.0  # guessed: below the patience of proxies, which is half a minute or more
SOON_SECONDS: Final = 0.5  # between two reports while something changes
REST_SECONDS: Final = 5.0
"""Between two reports while a job only trains, at least. Guessed: trades how old a page's numbers
are against what reports cost: a thousand jobs make 200 a second."""
OLD_REST_SECONDS: Final = 10.0  # the same once a job has been there for some minutes
LONGEST_REST_SECONDS: Final = 20.0  # guessed: what a service says that has many jobs
LARGEST_REPORT_BYTES: Final = 2 * 2**20
MOST_WORKERS: Final = 10_000  # as a spec may ask for
MOST_GENERATIONS: Final = 200  # in one report; guessed: a job changes every few minutes
MOST_METRICS: Final = 1000  # a quarter of an hour at one a second, about 400 kB
MOST_MEASUREMENTS: Final = 200  # guessed: of so many configurations a model learns nothing more
MOST_WARNINGS: Final = 20  # of one job; guessed: more than there are kinds
LONGEST_WARNING: Final = 1000  # letters
GATE_PORT: Final = 29_600  # in containers alone are there gates, and each has all ports to itself
COORDINATOR_LOST_SECONDS: Final = 600.0
"""A worker without a coordinator for so long ends itself. Guessed: ten times what the service waits
for a silent node before it starts a coordinator elsewhere; trades work that may yet be saved
against work that nobody will use."""


class Env(StrEnum):
    """Environment variables set for a job's processes."""

    JOB_ID = "CONCERTINA_JOB_ID"
    TOKEN = "CONCERTINA_TOKEN"  # noqa: S105 - the variable's name; of workers, for their coordinator
    SERVICE_TOKEN = "CONCERTINA_SERVICE_TOKEN"  # noqa: S105 - coordinator only, for syncs
    WORKER_ID = "CONCERTINA_WORKER_ID"
    ATTEMPT = "CONCERTINA_ATTEMPT"
    COORDINATOR = "CONCERTINA_COORDINATOR"  # host:port where workers reach it
    LISTEN_ON = "CONCERTINA_LISTEN_ON"  # coordinator only, optional: an address of its own machine
    SERVICE_URL = "CONCERTINA_SERVICE_URL"  # coordinator only: where to sync
    STATE_DIR = "CONCERTINA_STATE_DIR"  # coordinator only: its own small durable state
    REACHABLE = "CONCERTINA_REACHABLE"  # coordinator only: see `coordinator.gate.reachable`
    RENDEZVOUS = (
        "CONCERTINA_RENDEZVOUS"  # coordinator only: where the first worker's store would be
    )
    COORDINATOR_TERM = "CONCERTINA_COORDINATOR_TERM"  # coordinator only: see `SyncReport.term`
    START = "CONCERTINA_START"  # how often the job came out of the queue, with new workers
    EPOCH = "CONCERTINA_EPOCH"  # of the database at that start; a restored one begins a new one
    DATASETS = (
        "CONCERTINA_DATASETS"  # alone only: a file that says where data is; see `data_variable`
    )
    OUTPUTS = "CONCERTINA_OUTPUTS"  # a folder of the job, the same for all its workers
    CHECKPOINT_DIR = "CONCERTINA_CHECKPOINT_DIR"
    REPORT_FILE = "CONCERTINA_REPORT_FILE"  # how far a script is, by `ScriptReportLine`
    CHECKPOINT_INTERVAL_SECONDS = "CONCERTINA_CHECKPOINT_INTERVAL_SECONDS"
    CHECKPOINT_KEEP_LAST = "CONCERTINA_CHECKPOINT_KEEP_LAST"
    CHECKPOINT_KEEP_BEST = "CONCERTINA_CHECKPOINT_KEEP_BEST"  # JSON of `BestRules`, or empty
    START_FROM = "CONCERTINA_START_FROM"  # a folder: see `checkpoint_files.START_WEIGHTS`
    START_SKIP = "CONCERTINA_START_SKIP"  # JSON: patterns of names that are not taken from there
    BATCH = "CONCERTINA_BATCH"  # JSON of `BatchRules`
    SEED = "CONCERTINA_SEED"
    GPU_INDICES = "CONCERTINA_GPU_INDICES"  # comma separated; slots on a machine without GPUs
    GPU_TYPE = "CONCERTINA_GPU_TYPE"  # of the worker's pool; "slot" on a machine without GPUs
    GPU_EXCHANGE = "CONCERTINA_GPU_EXCHANGE"  # a job may set it: see `GpuExchange`
    COORDINATOR_LOST_SECONDS = "CONCERTINA_COORDINATOR_LOST_SECONDS"  # optional
    SAMPLE_AUDIT_DIR = "CONCERTINA_SAMPLE_AUDIT_DIR"  # a job may set it: record every step


def data_variable(source: str) -> str:
    """Return the variable that says where a source of data lies, on the platform and alone."""
    return f"CONCERTINA_DATA_{source.upper().replace('-', '_')}"


FOR_JOBS_TO_SET: Final = frozenset({Env.SAMPLE_AUDIT_DIR, Env.GPU_EXCHANGE})


class ExitCode(IntEnum):
    """How a process of a job ended, beyond what the user's own code returns."""

    COMPLETED = 0
    RELEASED = 83  # left because the plan said so; nothing went wrong
    COORDINATOR_LOST = 84  # no coordinator for too long: a fenced worker stops itself
    PORT_IN_USE = 85  # the coordinator could not listen; the service picks another port
    REPLACED = 87  # a coordinator for which another has taken over
    UNHEARD = 89  # a coordinator that was asked to end before the service had heard all of it
    ENDED_EARLY = 88  # the script came to its end, its training had not, and it did not say so
    OUT_OF_MEMORY = 86  # in a micro-batch: a worker with smaller ones takes its place
    COMMAND_NOT_FOUND = 127
    COMMAND_NOT_EXECUTABLE = 126


class GpuExchange(StrEnum):
    """How gradients travel between GPUs."""

    NCCL = "nccl"  # from GPU to GPU where each worker has its own, else as below; the default
    GLOO = "gloo"  # through the memory of the host


class LearningRateScaling(StrEnum):
    """How the learning rate follows the global batch: `lr_scaling` in a job spec."""

    NONE = "none"
    LINEAR = "linear"
    SQRT = "sqrt"
    ADASCALE = "adascale"  # by the gain of a step, which the measured gradient noise tells
    CUSTOM = "custom"  # by a function of the script's own


class BestRules(TypedDict):
    """Which checkpoints are kept beside the last ones."""

    metric: str  # as the script logs it
    goal: str  # "min" or "max"
    n: int


class BatchRules(TypedDict):
    """What a worker must know of the job's batch declaration."""

    base: int  # the global batch the script's learning rate was chosen for
    lr_scaling: str
    lr_warmup_steps: int
    max_per_gpu: int | None  # declared or found out; larger local batches are accumulated


class DesiredAction(StrEnum):
    """What the service wants the job's processes to do."""

    RUN = "run"
    STOP = "stop"  # write a checkpoint, then every worker leaves with `ExitCode.RELEASED`


class Desired(TypedDict):
    """The service's answer to a sync: the state it wants. `revision` counts up."""

    action: str
    revision: int
    attempt: int
    workers: list[str]  # ids of the workers that should train, in rank order
    global_batch_size: int
    next_generation: int  # no new generation may be numbered below this
    token: NotRequired[str]  # for the syncs from now on: the one before will expire
    report_after_seconds: NotRequired[float]  # at the latest; half a second where nothing is said
    point_seconds: NotRequired[float]  # between two points of progress; as they come, if not said


class MemberPhase(StrEnum):
    """Where a worker stands, as the coordinator sees it."""

    CONNECTED = "connected"  # said hello; building its model
    READY = "ready"  # registered, warm, may join
    TRAINING = "training"  # member of the active generation
    FINISHED = "finished"  # ran through the last epoch
    LOST = "lost"  # its connection broke, or its heartbeat stopped


class GenerationCause(StrEnum):
    """Why the coordinator began a generation."""

    DESIRED = "desired"  # the service asked for it: see `revision`
    WORKER_LOST = "worker_lost"  # survivors re-formed on their own


class GenerationReport(TypedDict):
    """One fixed set of workers and one global batch, once training runs with it."""

    number: int
    revision: int
    cause: str
    workers: list[str]
    global_batch_size: int
    began_at: float  # Unix seconds
    step: int  # optimizer steps of the job before this generation
    stall_seconds: float  # longest gap between steps at the switch, less the median step
    transfer_seconds: NotRequired[float]  # state was on its way to joiners, mostly behind a step
    lost_steps: NotRequired[int]  # had been made, as far as anybody left knows, and are made again
    lost_work_seconds: NotRequired[float]  # the time those steps had taken
    lost_workers: list[str]


class MetricReport(TypedDict):
    """Progress at one moment; at most one a second, later as the service says, oldest first.

    The last one of a job may repeat its step with the values logged after the last epoch.
    """

    at: float  # Unix seconds
    generation: int
    step: int  # optimizer steps since the job began
    epoch: float  # 1.5 = half way through the second epoch
    samples: int  # samples used since the job began
    samples_per_second: float
    step_seconds: float  # median since the last report
    compute_seconds: float  # of the step: forward and backward
    communication_seconds: float  # of the step: waiting for the gradient exchange
    local_batch_size: int  # largest share of one worker
    learning_rate: float
    values: dict[str, float]  # what the script logged: loss, accuracy, ...


class MeasurementReport(TypedDict):
    """Step time at one configuration, for the throughput model; steps after a switch left out."""

    workers: int
    global_batch_size: int
    steps: int  # steps behind the mean, all since the configuration began
    step_seconds: float


class GpuUse(TypedDict, total=False):
    """How a worker uses its GPUs; what cannot be measured is left out, on a CPU all of it."""

    gpu_utilisation: float  # 0 to 1: part of the last second a kernel ran in; mean over its GPUs
    gpu_memory_bytes: int  # in use, sum over its GPUs
    gpu_memory_total_bytes: int  # sum over its GPUs


class WorkerReport(GpuUse):
    """One worker as the coordinator sees it. What is not known of it is left out."""

    worker_id: str
    phase: str
    error: NotRequired[str]  # last line of the traceback, if it said one; or why it was given up
    given_up: NotRequired[bool]  # it is stopped or hangs, and others train without it: kill it
    compute_seconds: NotRequired[float]  # of a step, its own share alone: waiting not included
    samples_per_second: NotRequired[float]  # of its own share, while it computes
    relative_speed: NotRequired[float]  # 0.6: 40 % slower than the median of the job's workers
    is_straggler: NotRequired[bool]  # so slow, for so long, that it should be replaced


class ScriptReportLine(TypedDict):
    """A line of JSON that a script appends to `Env.REPORT_FILE`; what else is in it is a metric."""

    step: int  # optimizer steps since the job began, also over restarts
    at: NotRequired[float]  # Unix seconds; else when the file was written to
    samples: NotRequired[int]  # used since the job began; else the global batch in each step
    total_steps: NotRequired[int]  # that the job will make
    epoch: NotRequired[float]
    learning_rate: NotRequired[float]


class SyncReport(TypedDict):
    """Everything the coordinator knows; metrics and generations until acknowledged by a 200.

    Lists have at most `MOST_…` entries, all of it together `LARGEST_REPORT_BYTES`: what is more
    waits for the next report.
    """

    coordinator_started_at: float
    term: NotRequired[int]  # counts up with each coordinator that takes over
    registered: bool  # the script called `register`: it can be rescaled hot
    model_bytes: int  # parameters and optimizer state; 0 until registered
    noise_scale: NotRequired[float]  # gradient noise in samples at the base batch, if measured
    batch_limit: NotRequired[int]  # samples one worker holds at once; found by running out
    total_samples: int | None  # over all epochs, once the script told
    revision: int  # newest desired revision seen
    generation: int  # active generation; 0 before the first
    workers: list[WorkerReport]
    generations: list[GenerationReport]
    metrics: list[MetricReport]
    measurements: list[MeasurementReport]
    checkpoint_step: int | None  # newest complete checkpoint
    process_group: NotRequired[bool]  # workers that did not register form one of their own
    warnings: NotRequired[list[str]]  # what in the script is to be looked at, in sentences
    finished: bool
