"""Which JSON documents does the service answer with, as far as this client reads them?

Fields may be added by the service at any time; nothing here is checked at run time.
"""

from __future__ import annotations

from typing import Any, Final, NotRequired, TypedDict

LIVE_STATES: Final = ("queued", "starting", "running", "rescaling", "paused", "stopping")
FINAL_STATES: Final = ("completed", "failed", "cancelled")


class Problem(TypedDict):
    """One thing wrong with one field."""

    field: str
    value: Any
    problem: str
    remedy: NotRequired[str]


class ErrorEnvelope(TypedDict):
    """The body of every refusal."""

    code: str
    message: str
    details: list[Problem]


class Span(TypedDict):
    """The 10th, 50th and 90th percentile of a moment. None: later than was looked ahead."""

    p10: str | None
    p50: str | None
    p90: str | None


class Prediction(TypedDict):
    """When a live job starts (None: it has) and finishes (None: nobody knows its length)."""

    made_at: str
    start: Span | None
    finish: Span | None


class Job(TypedDict):
    """A job as listed and as got; the two specs come only with a single job."""

    id: str
    name: str
    team: str
    pool: str
    state: str
    reason: str
    message: str
    priority: int
    mode: str
    attempt: int
    generation: int
    failures: int
    losses: int
    rescales: int
    submitted_by: str
    submitted_at: str
    started_at: str | None
    finished_at: str | None
    last_rescaled_at: str | None
    workers: int
    workers_desired: int
    min_workers: int
    max_workers: int
    global_batch_size: int | None
    progress: float | None
    epoch: float
    total_epochs: float | None
    step: int
    samples: int
    total_samples: int | None
    samples_per_second: float
    noise_scale: float | None
    batch_limit: int | None
    values: dict[str, float | None]  # None: not a number, or infinite
    gpu_seconds: float
    completion_seconds: float | None
    trained_seconds: float
    stall_seconds: float
    longest_stall_seconds: float
    lost_work_seconds: float
    eta_seconds: float | None
    prediction: Prediction | None
    labels: dict[str, str]
    warnings: NotRequired[list[str]]  # with a single job; an earlier service tells of none
    disk_bytes: NotRequired[int | None]  # the same; null: not measured yet
    disk_files: NotRequired[int | None]
    spec: NotRequired[dict[str, Any]]
    resolved_spec: NotRequired[dict[str, Any]]
    notes: NotRequired[list[str]]  # of a job that was just submitted


class Event(TypedDict):
    """Something that happened to a job."""

    id: int
    at: str
    kind: str
    old_state: str
    new_state: str
    reason: str
    message: str
    data: dict[str, Any]


class Restart(TypedDict):
    """What it cost to start a script with other workers. None of a number: not known."""

    ordered_at: str
    seconds: float | None
    sign: str
    repeated_units: float | None
    repeated_unit: str
    repeated_seconds: float | None
    message: str


class Generation(TypedDict):
    """One fixed set of workers and one global batch that trained."""

    number: int
    attempt: int
    revision: int
    workers: int
    worker_ids: list[str]
    global_batch_size: int
    reason: str
    message: str
    began_at: str
    ended_at: str | None
    step: int
    stall_seconds: float
    idle_seconds: float  # nothing trained before it
    transfer_seconds: float
    lost_steps: int
    lost_work_seconds: float
    lost_worker_ids: list[str]
    restart: NotRequired[Restart | None]
    predicted_gain: float | None  # 0.31: 31 % faster than the generation before
    measured_gain: float | None


class Worker(TypedDict):
    """One process of a job."""

    id: str
    phase: str
    node: str
    gpu_indices: list[int]
    attempt: int
    created_at: str
    gone_at: str | None
    exit_code: int | None
    error: str
    compute_seconds: float | None  # of its share of a step
    relative_speed: float | None  # 0.6: 40 % slower than the median of the job's workers
    is_straggler: bool
    gpu_utilisation: float | None  # 0 to 1
    gpu_memory_bytes: int | None
    gpu_memory_total_bytes: int | None


class LogLine(TypedDict):
    """One line a worker or the coordinator wrote."""

    at: str
    worker: str
    stream: str
    text: str


class Choice(TypedDict):
    """A number of workers, and what it would be worth."""

    workers: int
    global_batch_size: int
    samples_per_second: float
    speedup: float
    value: float
    efficiency: NotRequired[float]  # what a sample of this batch counts


class JobRef(TypedDict):
    """Another job; of another team's only the team is told."""

    job_id: str | None
    name: str | None
    team: str | None


class NextStep(TypedDict):
    """The next size up."""

    workers: int
    gpus: int
    gain: float


class Rival(TypedDict):
    """The best other use of the same GPUs."""

    job: JobRef
    workers: int
    gpus: int
    gain: float


class Details(TypedDict):
    """The numbers an explanation rests on, as far as this client shows them; by kind."""

    kind: NotRequired[str | None]
    next_step: NotRequired[NextStep | None]
    rival: NotRequired[Rival | None]


class Change(TypedDict):
    """One past change of a job's workers or batch."""

    reason: str
    message: str
    at: str
    cost: NotRequired[str]  # of a restart


class Remedy(TypedDict):
    """What would start a waiting job."""

    kind: str
    message: str
    found_at: str


class Explanation(TypedDict):
    """Why a job waits, or has the workers it has."""

    job_id: str
    action: str
    reason: str
    message: str
    workers: int | None
    global_batch_size: int | None
    choices: list[Choice]
    price: float | None
    position: int | None
    gpus_asked: int | None
    gpus_free: int | None
    decided_at: str | None
    remedy: Remedy | None
    warnings: NotRequired[list[str]]  # an earlier service tells of none
    details: Details | None  # None: there is no decision yet
    changes: list[Change]


class Team(TypedDict):
    """A team's standing, in GPUs."""

    name: str
    parent: str | None
    guaranteed: int
    limit: int | None
    fair_share: float
    allocated: int
    borrowed: int
    lent: int
    waiting: int
    running_jobs: int
    waiting_jobs: int
    is_mine: bool  # the caller may act for it


class Secret(TypedDict):
    """What only a team's jobs may know; what is in it never leaves the service."""

    name: str
    kind: str
    variables: list[str]
    registry: str
    created_at: str
    updated_at: str
    updated_by: str
    jobs_count: int


class Pool(TypedDict):
    """GPUs of one type; its nodes are left to the dashboard."""

    name: str
    gpu_type: str
    policy: str
    gpus_total: int
    gpus_used: int
    price: float | None


class Validation(TypedDict):
    """What a dry run of a spec says."""

    resolved_spec: dict[str, Any] | None
    problems: list[Problem]
    notes: list[str]
