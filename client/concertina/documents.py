"""Which documents does the service answer with? Written by `make openapi` from docs/openapi.yaml.

A service of another release may leave out fields or add some; nothing here is checked at run time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypedDict

if TYPE_CHECKING:
    from concertina.vocabulary import (
        Action,
        ArrivalPattern,
        AuditOutcome,
        AuditSenderKind,
        BlankChoice,
        CatchUp,
        DataSourceKind,
        DeliveryState,
        DeviceLoginProgress,
        EventKind,
        Hindrance,
        JobMix,
        JobMode,
        JobNetwork,
        JobReason,
        JobState,
        KeptPartName,
        LearningRateScaling,
        LimitUnit,
        LogStream,
        MachineEventKind,
        MemberRole,
        MetricGoal,
        ModelState,
        NodeClosing,
        Occasion,
        Overlap,
        PoolAdmission,
        PoolAnswer,
        Preemptibility,
        ProgressUnit,
        ReclaimTarget,
        RemedyKind,
        RemovedPart,
        RestartSign,
        ScheduleRunState,
        SecretKind,
        ServiceStatus,
        SetupAction,
        SetupKind,
        ShellSignal,
        SimulatedAdmission,
        SimulationState,
        SizeVerdict,
        SweepResource,
        TeamPermission,
        TokenScope,
        TokenState,
        TraceFormat,
        TraceSourceKind,
        WaitCondition,
        WebhookEventKind,
        WebhookShape,
        WhenUsedUp,
        WithoutRoom,
        WorkerPhase,
    )


class ArraySpec(TypedDict):
    """The field `array`: either a grid, or the values of each trial."""

    parameters: NotRequired[dict[str, str | list[float | str | bool]] | None]
    trials: NotRequired[list[dict[str, float | str | bool]] | None]
    max_running: NotRequired[int | None]


class ArrayTrial(TypedDict):
    """Which trial of an array a job is, and with which values."""

    number: int  # From 1.
    values: dict[str, Any]  # By parameter.
    is_swept: bool  # The array is that of a sweep, which has its id.


class Asha(TypedDict):
    """Early stopping by asynchronous successive halving."""

    resource: NotRequired[Literal["epochs", "steps", "samples"]]
    min: NotRequired[float]
    max: float
    reduction: NotRequired[int]


class AuditEntry(TypedDict):
    """A request that changed something, or several of one kind that were not carried out."""

    id: int
    at: str  # Of several, the first.
    last_at: str  # When for the last time.
    times: int  # How often, within an hour.
    outcome: AuditOutcome
    sender_kind: AuditSenderKind
    sender: str  # Empty: nobody knows.
    token_id: int | None
    token_prefix: str  # Of a key that opened nothing, too; or empty.
    address: str  # Of IPv6 the network of 64 bits.
    operation: str
    target: str  # An address below /api/v1, or of a page.
    team: str | None  # null: about none, or one that is gone.
    answer: int  # An HTTP status; 0: it was no request.
    before: Any  # Values of what changed; null: none are told.
    after: Any  # Likewise.


class AuditPage(TypedDict):
    """A document of the API: AuditPage."""

    items: list[AuditEntry]
    next_cursor: str | None  # null: these were the last.


class AwaitedJob(TypedDict):
    """Another job, or an array of jobs, and how it, or each of these, has to end first."""

    job: NotRequired[str | None]
    array: NotRequired[str | None]
    when: NotRequired[WaitCondition]


class BalancedCosts(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.


class Batch(TypedDict):
    """The global batch, and how the learning rate follows it."""

    global_batch_size: int | GlobalBatch
    per_gpu_batch_size: NotRequired[PerGpuBatch]
    gradient_accumulation: NotRequired[bool]
    lr_scaling: NotRequired[LearningRateScaling]
    lr_warmup_steps: NotRequired[int]


class BatchWorth(TypedDict):
    """What a sample of the largest batch counts, by the gradient noise as it was measured last."""

    base: int
    largest: int
    of_largest: float  # What a sample of the largest batch is worth, in samples of the base batch.
    supported: int  # Up to this batch of the range, a sample is worth at least half.
    reaches_too_far: bool  # At the largest batch it is not.
    message: str


class BeforeAfter(TypedDict):
    """A team in a pool, as things are and as they would be."""

    team: str
    pool: str
    before: TeamOutcome | None
    after: TeamOutcome | None


class Budget(TypedDict):
    """How a team, with those below it, stands with its GPU-hours of this month."""

    team: str
    month: str  # Its first day, in UTC.
    gpu_hours: float
    used_gpu_hours: float  # As counted last, half a minute ago or so.
    near_gpu_hours: float  # From which on its people are told.
    # Used at the end of the month, if it goes on to hold as many GPUs as now.
    forecast_gpu_hours: float
    then: WhenUsedUp  # What becomes of its jobs when all are used up.
    is_used_up: bool
    message: str


class Calibration(TypedDict):
    """How many starts and ends came within their predicted 10 to 90 % range; 80 % should."""

    held: int
    outcomes: int
    is_rough: bool  # Too few outcomes to judge by.
    by_horizon: list[Held]  # By how far ahead they were predicted.


class Change(TypedDict):
    """A document of the API: Change."""

    reason: JobReason | BlankChoice
    message: str
    at: str
    cost: str  # Of a restart, as far as its log tells; empty: of anything else.


class Checkpoint(TypedDict):
    """How often state is written, and how many copies are kept."""

    interval: NotRequired[str]
    keep_last: NotRequired[int]
    keep_best: NotRequired[KeepBest | None]


class Choice(TypedDict):
    """A document of the API: Choice."""

    workers: int
    global_batch_size: int
    samples_per_second: float
    speedup: float
    value: float | None
    efficiency: NotRequired[float]  # What a sample of this batch counts, by the gradient noise.


class Claim(TypedDict):
    """A document of the API: Claim."""

    gpu_index: int
    team: str  # `other teams`: one whose GPUs you do not see.
    worker: str | None  # null: another team's.
    job_id: str | None
    job_name: str | None


class ClosedNode(TypedDict):
    """A node of the job's pool that takes no new work."""

    name: str
    gpus: int
    closing: NodeClosing


class Code(TypedDict):
    """The folder in which the job's command starts."""

    digest: NotRequired[str | None]
    git: NotRequired[CodeOrigin | None]


class CodeOrigin(TypedDict):
    """A folder of a git repository: from which the platform fetches, or whoever packed it says."""

    url: NotRequired[str]
    ref: NotRequired[str]
    path: NotRequired[str]
    secret: NotRequired[str]
    commit: NotRequired[str]
    branch: NotRequired[str]
    is_changed: NotRequired[bool]
    diff: NotRequired[str]


class ComparedCurve(TypedDict):
    """Columns of the same length, evenly thinned, oldest first."""

    lowest: float | None  # Before thinning: of a long job, of the last point of each stretch.
    highest: float | None
    seconds: list[float]  # Since the job started.
    steps: list[int]
    samples: list[int]
    gpu_hours: list[float | None]  # While it trained until then; null where its history is gone.
    values: list[float]


class ComparedJob(TypedDict):
    """A row of the list of jobs, its spec as it counts now, and its curve."""

    id: str
    name: str
    team: str
    pool: str
    state: JobState
    reason: JobReason
    message: str
    priority: int
    mode: JobMode
    attempt: int  # 0 before the first start.
    generation: int  # Active one; 0: none yet.
    failures: int  # Of the job's own code.
    losses: int  # Workers lost from outside.
    rescales: int
    submitted_by: str
    submitted_at: str
    started_at: str | None
    finished_at: str | None
    last_rescaled_at: str | None
    workers: int  # Training now.
    workers_desired: int  # Of the newest plan.
    min_workers: int
    max_workers: int
    global_batch_size: int
    progress: float | None  # 0 to 1; null: length unknown.
    epoch: float
    total_epochs: int | None  # Epochs are equally long, so the ones so far tell how many there are.
    step: int
    samples: int
    total_samples: int | None
    samples_per_second: float
    values: dict[str, float | None]
    gpu_seconds: float  # GPU time held so far.
    completion_seconds: float | None  # From submit to the end.
    trained_seconds: float  # All generations together.
    stall_seconds: float  # Of all rescales and losses.
    longest_stall_seconds: float
    lost_work_seconds: float  # Of steps that were made again from a checkpoint.
    noise_scale: float | None  # Gradient noise in samples, at the base batch.
    # Samples that fit one worker at once: declared, or found; null: no limit known.
    batch_limit: int | None
    eta_seconds: float | None  # At the present speed.
    prediction: Prediction | None  # Null: none yet, or it has ended.
    position: int | None  # In the queue; 1 is next.
    labels: dict[str, str]
    array: str | None  # The id of the array of which it is a trial.
    trial: ArrayTrial | None  # Null: it is of no array.
    schedule: JobSchedule | None  # Null: no schedule submitted it.
    # Without the text of what was changed beside the commit of its code.
    resolved_spec: dict[str, Any]
    curve: ComparedCurve


class Comparison(TypedDict):
    """A document of the API: Comparison."""

    items: list[ComparedJob]  # In the order in which they were named.
    missing: list[str]  # Ids of no job that the caller may see.
    metrics: list[str]  # What any of them logs, losses first.
    metric: str  # Of which the curves are; empty: of the measure, or none of them logs a number.


class Credentials(TypedDict):
    """A document of the API: Credentials."""

    username: str
    password: str


class DataSource(TypedDict):
    """A document of the API: DataSource."""

    name: str
    kind: DataSourceKind
    path: str  # Of a folder, as nodes see it; else empty.
    url: str  # Of an object store; else empty.
    endpoint: str  # Of a store that is not where its kind is; else empty.
    job: str  # The job whose outputs these are, or empty.
    digest: str  # Of an upload: of what jobs see that are submitted now; else empty.
    secret: str  # The name of what the store asks for, or empty.
    # How much of it the platform has fetched, or is about to, in all versions; of an upload how
    # much it has.
    cached_bytes: int
    teams: list[str]  # Whose jobs may name it; those that you may see.
    is_writable: bool
    created_at: str
    updated_at: str
    updated_by: str
    jobs: list[DataUser]  # Live jobs of these teams that use it; at most 20.
    jobs_count: int  # How many live jobs of these teams use it.


class DataSourceBody(TypedDict):
    """What a source is, and for whom."""

    kind: NotRequired[DataSourceKind]
    path: NotRequired[str]  # Of a folder, as nodes see it, below one of CONCERTINA_DATA_FOLDERS.
    # Of an object store: s3://BUCKET/PREFIX, gs://, az:// or https://; a folder, or the one object
    # of this name.
    url: NotRequired[str]
    endpoint: NotRequired[str]  # Of S3 that is not Amazon's, such as https://s3.example.com.
    # Of an output: the id of the job that wrote it, which is pinned for that.
    job: NotRequired[str]
    digest: NotRequired[str]  # Of an upload that the first of `teams` has made: see upload_data.
    # Of the first of `teams`: what the store asks for. Jobs are never told it.
    secret: NotRequired[str]
    teams: list[str]  # Whose jobs may name it; teams below them may not.
    is_writable: NotRequired[bool]  # true: jobs may write to it.


class DataSourceList(TypedDict):
    """A document of the API: DataSourceList."""

    may_change: bool  # True for admins and, of stores and outputs of their teams, for leads.
    items: list[DataSource]


class DataUse(TypedDict):
    """A source of data, and how the job's workers see it."""

    source: str
    path: NotRequired[str]
    mount: NotRequired[str | None]
    writable: NotRequired[bool]


class DataUser(TypedDict):
    """A document of the API: DataUser."""

    id: str
    name: str
    team: str


class Delivery(TypedDict):
    """One message, and how it went."""

    id: str  # Sent along as `webhook-id`, however often it is sent.
    kind: str  # Of the event; `test` if somebody tried the webhook.
    event_id: int | None  # Null: it was asked for, as a test.
    job_id: str
    state: DeliveryState
    created_at: str
    expires_at: str  # Until then it is tried.
    due_at: str  # If it waits: when it is sent.
    attempts: int
    delivered_at: str | None
    tries: list[DeliveryTry]  # The last ones, the newest last.


class DeliveryList(TypedDict):
    """A document of the API: DeliveryList."""

    items: list[Delivery]
    has_more: bool  # Ask again with `before` the last of these.


class DeliveryTry(TypedDict):
    """A document of the API: DeliveryTry."""

    at: str
    seconds: float
    status: int | None  # null: there was no answer.
    problem: str  # Empty: it was delivered.


class Dependency(TypedDict):
    """One other job, and for which end of which of the two the other one waits."""

    job_id: str
    name: str
    when: WaitCondition  # How the job that is waited for has to end.
    state: JobState | BlankChoice  # Empty: it was deleted.
    ended_as: str  # Of a deleted job: how it ended. Empty: it is there, or nobody knows.


class DeviceCodeBody(TypedDict):
    """A document of the API: DeviceCodeBody."""

    device_code: str


class DeviceLogin(TypedDict):
    """What a command line asks for."""

    name: str  # Of the token, as the command line says.
    scopes: list[TokenScope]
    days: int | None  # null: its token never expires.
    address: str  # From where it was asked for.
    is_your_address: bool  # It asks from where you do.
    replaces: bool  # A token of yours of this name ends.
    asked_at: str
    expires_at: str


class DeviceLoginState(TypedDict):
    """A document of the API: DeviceLoginState."""

    state: DeviceLoginProgress


class DroppedDetails(TypedDict):
    """A new job that is refused for good, in a pool that keeps no queue."""

    kind: Literal["dropped"]
    needed_gpus: int
    available_gpus: int  # Left when every admitted job takes its smallest size.
    team: TeamShare


class Elastic(TypedDict):
    """How many workers the job can use, and how it changes between them."""

    min_workers: NotRequired[int]
    max_workers: NotRequired[int]
    allowed_workers: NotRequired[list[int] | None]
    worker_step: NotRequired[int]
    requested_workers: NotRequired[int | None]
    scale_on: NotRequired[ScaleOn | None]
    mode: NotRequired[JobMode]
    min_interval: NotRequired[str]
    grace_period: NotRequired[str]
    registration_timeout: NotRequired[str]
    progress_timeout: NotRequired[str | None]


class EndedJobs(TypedDict):
    """Jobs that ended in the month."""

    completed: int
    failed: int
    cancelled: int


class Error(TypedDict):
    """The body of every error."""

    code: str  # Stable; for programs.
    message: str  # For people.
    details: list[ErrorDetail]


class ErrorDetail(TypedDict):
    """A document of the API: ErrorDetail."""

    field: str  # Empty: the request as a whole.
    value: Any  # As it was sent, if small.
    problem: str
    remedy: str


class Event(TypedDict):
    """A document of the API: Event."""

    id: int
    at: str
    kind: EventKind
    old_state: JobState | BlankChoice
    new_state: JobState | BlankChoice
    reason: JobReason | BlankChoice
    message: str
    data: dict[str, Any]


class EventList(TypedDict):
    """A document of the API: EventList."""

    items: list[Event]


class Explanation(TypedDict):
    """A document of the API: Explanation."""

    job_id: str
    action: Action | BlankChoice  # Empty: there is no decision yet.
    reason: JobReason
    message: str
    workers: int | None  # That the planner wants.
    global_batch_size: int | None
    choices: list[Choice]  # One worker fewer, as it is, one more.
    price: float | None  # What one more GPU would add.
    position: int | None  # In the queue; 1 is next.
    gpus_asked: int | None
    gpus_free: int | None
    decided_at: str | None
    remedy: FoundRemedy | None  # What would start a waiting job now; null: nobody looked lately.
    warnings: list[str]  # What in its script is to be looked at, in sentences, oldest first.
    gpu_hours: float  # That it has cost so far.
    limits: list[HeldLimit]  # What bounds it, and how much of that is used up.
    quarantine: Quarantine | None  # Null: it is planned as all others are.
    details: Details | None  # All numbers the sentence is made of; null: no decision yet.
    changes: list[Change]  # The newest rescales, newest first.


class FairShareSetup(TypedDict):
    """How idle GPUs of a pool are shared out, and come back."""

    half_life_hours: NotRequired[float]  # After so many hours, usage of the past counts half.
    usage_weight: NotRequired[float]  # How much it counts against a team's weight. 0: not at all.
    # How far a team with waiting work may take GPUs back from borrowers.
    reclaim_target: NotRequired[ReclaimTarget]
    reclaim_delay_seconds: NotRequired[float]  # A claim waits so long for GPUs that become free.
    reclaim_min_runtime_seconds: NotRequired[float]  # A borrower that runs for less is only shrunk.
    # What is taken back for another team's guarantee is free after so long.
    reclaim_seconds: NotRequired[float]


class FairnessReceipt(TypedDict):
    """What of its guarantee, as it was then, a team was given while it had work for it."""

    team: str
    since: str | None  # null: nothing is known yet.
    until: str | None
    # For which nobody looked: what changed then was written down at the end of it.
    unseen_seconds: float
    message: str  # All of it in a sentence.
    working_seconds: float  # Of all pools together.
    given_seconds: float  # Likewise.
    missing_gpu_seconds: float  # What `missing` adds up to.
    pools: list[PoolReceipt]
    missing: list[MissingTime]  # What was owed and not given, by pool and cause, the largest first.
    # When, and which jobs waited, the newest first; of the last 100 days.
    shortfalls: list[Shortfall]
    has_more: bool  # There are more than 500 shortfalls: ask for less time.


class FeedEvent(TypedDict):
    """An event of any job, with whose it is."""

    position: int  # Later ones have a higher one.
    team: str
    job_id: str
    job_name: str
    id: int
    at: str
    kind: EventKind
    old_state: JobState | BlankChoice
    new_state: JobState | BlankChoice
    reason: JobReason | BlankChoice
    message: str
    data: dict[str, Any]


class FeedPage(TypedDict):
    """A document of the API: FeedPage."""

    items: list[FeedEvent]
    next: str  # Go on with `after` this.
    has_more: bool  # True: ask for the next page at once, even if this one is empty.


class Generation(TypedDict):
    """A document of the API: Generation."""

    number: int
    attempt: int
    revision: int
    workers: int
    worker_ids: list[str]
    global_batch_size: int
    reason: JobReason | BlankChoice
    message: str
    began_at: str  # As reported, within what is possible.
    ended_at: str | None
    step: int  # Steps of the job before it.
    stall_seconds: float  # Nobody trained, at the switch.
    # Nothing trained before it: paused, waiting, or starting again after a loss.
    idle_seconds: float
    transfer_seconds: float  # State was on its way to joiners, mostly while the others trained.
    lost_steps: int  # Steps made before that are made again, from a checkpoint.
    lost_work_seconds: float  # What those steps had taken.
    lost_worker_ids: list[str]
    restart: Restart | None  # Of a script that does not report steps; null: none of the kind.
    predicted_gain: float | None  # Of the rescale; 0.31: 31 %.
    predicted_stall_seconds: float | None
    measured_gain: float | None  # Over the generation before; null: not measured yet.
    decision: dict[str, Any]  # The planner's numbers.


class GenerationList(TypedDict):
    """A document of the API: GenerationList."""

    items: list[Generation]


class GivesWay(TypedDict):
    """A job, or several, that would have fewer workers than without the new one."""

    job_id: str | None  # Null: of another team.
    name: str | None
    team: str | None  # Null: teams see nothing of others, and these are all their jobs together.
    workers_without: int
    workers_with: int  # 0: it is paused, or starts later.


class GlobalBatch(TypedDict):
    """Allowed global batch sizes: from min to max, multiples of `multiple_of`."""

    base: int
    min: NotRequired[int]
    max: NotRequired[int]
    multiple_of: NotRequired[int]


class GpuCosts(TypedDict):
    """GPU-hours, and what they cost at the prices of their days."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.


class GpuPrice(TypedDict):
    """What a GPU-hour of a pool costs in a time, in the installation's currency."""

    pool: str
    since: str  # The first day of UTC on which it holds.
    until: str | None  # The first day on which it does not any more; null: it stays.
    per_gpu_hour: float
    is_current: bool  # It holds today.


class GpuPriceBody(TypedDict):
    """A document of the API: GpuPriceBody."""

    changes_past: NotRequired[bool]  # Do it also if reports of the past say something else then.
    per_gpu_hour: float  # In millionths at the finest.


class GpuPriceList(TypedDict):
    """A document of the API: GpuPriceList."""

    items: list[GpuPrice]  # By pool; of each the oldest first.


class GpuUsage(TypedDict):
    """A document of the API: GpuUsage."""

    since: str | None  # null: no hour is closed yet.
    until: str | None
    # For which nobody looked: what changed then was written down at the end of it.
    unseen_seconds: float
    items: list[GpuUsageRow]  # By time; those that held most GPU time first.
    total: GpuCosts  # Of all rows, also those of other pages.
    rows: int  # In all.
    next_cursor: str | None


class GpuUsageRow(TypedDict):
    """What rows are not told apart by has no field."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    hour: NotRequired[str]  # When it began.
    day: NotRequired[str]
    month: NotRequired[str]  # As 2026-11.
    # `other teams`: those of which you see no numbers, together; null: promised to nobody.
    team: NotRequired[str | None]
    user: NotRequired[str | None]  # null: held by no job.
    pool: NotRequired[str]
    job: NotRequired[str | None]  # null: held by no job.
    job_name: NotRequired[str | None]
    # By key; null: without this label, or held by no job.
    labels: NotRequired[dict[str, str | None]]


class GpuUse(TypedDict):
    """A worker of several GPUs tells one number for all of them."""

    node: str
    gpu_index: int
    worker: str  # Who told these numbers.
    utilisation: float | None  # 0 to 1; null: not told.
    memory_bytes: int | None  # In use; null: not told.
    memory_total_bytes: int | None
    is_slow: bool  # Its worker is slower than its peers.


class GpuUseList(TypedDict):
    """A document of the API: GpuUseList."""

    items: list[GpuUse]


class Health(TypedDict):
    """A document of the API: Health."""

    # impaired: it answers, but plans are not applied. unavailable comes with 503.
    status: ServiceStatus
    database: bool
    redis: bool
    # Since the control loop last looked; null: never or unknown.
    control_loop_seconds_ago: float | None
    plans: Plans | None  # Null: unknown.


class Held(TypedDict):
    """A document of the API: Held."""

    at_most_seconds: float | None  # Ahead; null: longer.
    held: int
    outcomes: int


class HeldLimit(TypedDict):
    """A limit that holds for the job."""

    limit: str  # The field in which somebody set it.
    team: str | None  # Whose it is, with those below it; null: the job's own.
    unit: LimitUnit
    used: float
    most: float
    is_used_up: bool
    message: str  # The numbers in words, what follows, and who can change it.


class Holder(TypedDict):
    """A document of the API: Holder."""

    team: str
    gpus: int
    borrowed_gpus: int


class Idle(TypedDict):
    """What is done with a job that is idle, and after how long."""

    after: str
    then: NotRequired[Literal["shrink", "pause", "warn"]]


class ImageOnNode(TypedDict):
    """A document of the API: ImageOnNode."""

    node: str
    note: str  # Why it is not there yet; empty: it is.


class ImageRule(TypedDict):
    """A document of the API: ImageRule."""

    id: int
    pattern: str  # Such as registry.example.com/vision/*; answered in full.
    team: NotRequired[str | None]  # null: for everybody.
    created_at: str


class ImageRuleList(TypedDict):
    """A document of the API: ImageRuleList."""

    items: list[ImageRule]
    next_after: int | None  # null: the last page.


class InstallationSetting(TypedDict):
    """A setting, by the variable that sets it."""

    group: str
    name: str
    value: str  # As people read it, with its unit.
    meaning: str


class InstallationSettingList(TypedDict):
    """A document of the API: InstallationSettingList."""

    items: list[InstallationSetting]


class Invitation(TypedDict):
    """An invitation, without its key."""

    id: int
    team: str
    role: MemberRole
    mail: NotRequired[str]  # To whom it was sent, if so.
    prefix: str  # The beginning of its key.
    invited_by: str
    invited_at: str
    expires_at: str
    revoked_at: NotRequired[str | None]
    accepted_at: NotRequired[str | None]
    accepted_by: NotRequired[str | None]


class InvitationBody(TypedDict):
    """A document of the API: InvitationBody."""

    role: MemberRole
    # An address to which the link is sent, where this installation sends mail.
    mail: NotRequired[str]


class InvitationKeyBody(TypedDict):
    """A document of the API: InvitationKeyBody."""

    key: str


class InvitationList(TypedDict):
    """A document of the API: InvitationList."""

    sends_mail: bool  # False: links are passed on by people.
    items: list[Invitation]


class Job(TypedDict):
    """A job with the numbers a table of jobs shows. Takes rows of `queries.with_numbers`."""

    id: str
    name: str
    team: str
    pool: str
    state: JobState
    reason: JobReason
    message: str
    priority: int
    mode: JobMode
    attempt: int  # 0 before the first start.
    generation: int  # Active one; 0: none yet.
    failures: int  # Of the job's own code.
    losses: int  # Workers lost from outside.
    rescales: int
    submitted_by: str
    submitted_at: str
    started_at: str | None
    finished_at: str | None
    last_rescaled_at: str | None
    workers: int  # Training now.
    workers_desired: int  # Of the newest plan.
    min_workers: int
    max_workers: int
    global_batch_size: int
    progress: float | None  # 0 to 1; null: length unknown.
    epoch: float
    total_epochs: int | None  # Epochs are equally long, so the ones so far tell how many there are.
    step: int
    samples: int
    total_samples: int | None
    samples_per_second: float
    values: dict[str, float | None]
    gpu_seconds: float  # GPU time held so far.
    completion_seconds: float | None  # From submit to the end.
    trained_seconds: float  # All generations together.
    stall_seconds: float  # Of all rescales and losses.
    longest_stall_seconds: float
    lost_work_seconds: float  # Of steps that were made again from a checkpoint.
    noise_scale: float | None  # Gradient noise in samples, at the base batch.
    # Samples that fit one worker at once: declared, or found; null: no limit known.
    batch_limit: int | None
    eta_seconds: float | None  # At the present speed.
    prediction: Prediction | None  # Null: none yet, or it has ended.
    position: int | None  # In the queue; 1 is next.
    labels: dict[str, str]
    array: str | None  # The id of the array of which it is a trial.
    trial: ArrayTrial | None  # Null: it is of no array.
    schedule: JobSchedule | None  # Null: no schedule submitted it.


class JobArray(TypedDict):
    """Jobs that were submitted as one spec with an `array`, and how they stand."""

    id: str
    name: str
    team: str
    parameters: list[str]
    trials: int  # How many jobs were submitted.
    max_running: int | None  # Null: all at once.
    submitted_by: str
    submitted_at: str
    states: dict[str, int]  # How many of its jobs are in each state; deleted ones are in none.
    may_change: bool  # True if the caller may steer its jobs.


class JobArrayPage(TypedDict):
    """A document of the API: JobArrayPage."""

    items: list[JobArray]
    next_cursor: str | None


class JobChanges(TypedDict):
    """A document of the API: JobChanges."""

    pool: NotRequired[str | None]
    pools: NotRequired[list[str] | None]
    elastic: NotRequired[dict[str, Any]]
    batch: NotRequired[dict[str, Any]]
    priority: NotRequired[int | None]
    preemptibility: NotRequired[Preemptibility | None]
    deadline: NotRequired[str | None]
    max_duration: NotRequired[str | None]
    budget_gpu_hours: NotRequired[float | None]
    idle: NotRequired[Idle | None]
    notify: NotRequired[Notify | None]
    retry: NotRequired[dict[str, Any]]
    labels: NotRequired[dict[str, str] | None]


class JobDependencies(TypedDict):
    """The first of them, each way."""

    waits_for: list[Dependency]
    awaited_by: list[Dependency]
    awaited_by_total: int  # How many wait for it in all.


class JobPage(TypedDict):
    """A document of the API: JobPage."""

    items: list[Job]
    next_cursor: str | None
    total: int | None  # How many there are in all; null: not counted.


class JobRef(TypedDict):
    """Another job. Members of a team read id and name of their own team's jobs only."""

    job_id: str | None
    name: str | None
    team: str | None


class JobRemovals(TypedDict):
    """A document of the API: JobRemovals."""

    is_pinned: bool  # Nothing of it is removed for its age.
    items: list[Removal]


class JobReport(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.
    job: str
    job_name: str


class JobSchedule(TypedDict):
    """Which schedule submitted a job, and for which of its times; it may be deleted by now."""

    id: str
    name: str
    due_at: str


class JobSpec(TypedDict):
    """One job as its user declares it."""

    name: str
    team: NotRequired[str]
    pool: NotRequired[str]
    pools: NotRequired[list[str] | None]
    image: NotRequired[str | None]
    command: list[str]
    code: NotRequired[Code | None]
    workdir: NotRequired[str | None]
    env: NotRequired[dict[str, str]]
    secrets: NotRequired[list[str]]
    data: NotRequired[list[DataUse]]
    network: NotRequired[JobNetwork | None]
    resources: NotRequired[Resources]
    elastic: NotRequired[Elastic]
    batch: NotRequired[Batch]
    priority: NotRequired[int]
    preemptibility: NotRequired[Preemptibility]
    deadline: NotRequired[str | None]
    utility: NotRequired[list[UtilityPoint] | None]
    max_duration: NotRequired[str | None]
    budget_gpu_hours: NotRequired[float | None]
    idle: NotRequired[Idle | None]
    retry: NotRequired[Retry]
    early_end: NotRequired[Literal["failed", "completed"]]
    checkpoint: NotRequired[Checkpoint]
    start_from: NotRequired[StartFrom | None]
    depends_on: NotRequired[list[str | AwaitedJob]]
    notify: NotRequired[Notify | None]
    metrics: NotRequired[list[LoggedMetric]]
    seed: NotRequired[int]
    labels: NotRequired[dict[str, str]]
    array: NotRequired[ArraySpec]  # Makes a job for each trial: in a bulk and in a check only.
    # Makes trials one after the other: of `submit_sweep` and in a check only.
    sweep: NotRequired[SweepTerms]
    template: NotRequired[str]  # A template of the team, which fills in what is left out.
    project: NotRequired[str]  # Also accepted for `team`.
    max_restarts: NotRequired[int]  # Also accepted for `retry.max_restarts`.


class JoinedTeam(TypedDict):
    """A document of the API: JoinedTeam."""

    team: str
    role: str


class KeepBest(TypedDict):
    """Which checkpoints stay beside the last ones: the best by a value that the script logs."""

    metric: str
    goal: NotRequired[Literal["min", "max"]]
    n: NotRequired[int]


class KeptCheckpoint(TypedDict):
    """What an earlier release wrote tells nothing of itself: there the rest is null or empty."""

    step: int
    epoch: float | None  # 1.5: half way through the second one.
    samples: int | None  # Used since the job began.
    written_at: str
    bytes: int  # Of all of it.
    weights_bytes: int | None
    digest: str | None  # SHA-256 of the file of weights, in hexadecimal.
    metrics: list[LoggedValue]  # The newest of each name.


class KeptCheckpoints(TypedDict):
    """A document of the API: KeptCheckpoints."""

    items: list[KeptCheckpoint]
    next_cursor: str | None


class KeptPart(TypedDict):
    """One part of all jobs of a team, in days after their end; 0 stands for ever."""

    part: KeptPartName
    kept_days: int  # What counts.
    days: int | None  # What the team chose; null: as the installation says.
    default_days: int  # What the installation says.
    least_days: int | None  # The team's lower bound.
    most_days: int | None  # The team's upper bound.


class LabelReport(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.
    label: str
    value: str


class Lately(TypedDict):
    """How the newest ranges like this one did: of jobs that ended, one in the middle of each."""

    held: int  # So many ended within their range.
    outcomes: int  # Of so many jobs, at most 10.


class Leaving(TypedDict):
    """A document of the API: Leaving."""

    gpus_free_elsewhere: int  # Of the pool, on other nodes that take new work.
    count: int  # Of jobs that hold GPUs of the node, in all.
    items: list[LeavingJob]  # At most 500, by name.


class LeavingJob(TypedDict):
    """A document of the API: LeavingJob."""

    id: str
    name: str
    team: str
    mode: JobMode
    workers_here: int  # That hold GPUs of this node.
    workers_elsewhere: int
    gpus_here: int
    min_workers: int
    # While it trains. false: of mode `fixed`, or nothing says that its workers share the work; it
    # pauses and starts again elsewhere.
    can_move: bool
    # For how many workers of its size other nodes have room, if nobody else takes it.
    workers_with_room: int
    # What a drain means for it if no other node has room: it `shrinks` to its workers elsewhere,
    # `pauses` after a checkpoint, or `stays` until it ends.
    without_room: WithoutRoom


class LogLine(TypedDict):
    """A document of the API: LogLine."""

    at: str
    worker: str
    stream: LogStream
    text: str


class LogLineList(TypedDict):
    """A document of the API: LogLineList."""

    items: list[LogLine]
    has_earlier: bool  # There are lines before these.
    is_trimmed: bool  # Older lines were dropped for good: a process or the job wrote too much.


class LoggedMetric(TypedDict):
    """A metric, and how its number is found in a line of the log."""

    name: str
    pattern: str


class LoggedValue(TypedDict):
    """A document of the API: LoggedValue."""

    name: str
    value: float
    step: int  # After which it was logged.


class MachineEvent(TypedDict):
    """A document of the API: MachineEvent."""

    at: str
    kind: MachineEventKind
    node: str  # Empty: of no certain one.
    reason: str
    numbers: dict[str, float]  # With which it was decided.
    said: str  # All of it in a sentence.


class MadeInvitation(TypedDict):
    """An invitation, without its key."""

    id: int
    team: str
    role: MemberRole
    mail: NotRequired[str]  # To whom it was sent, if so.
    prefix: str  # The beginning of its key.
    invited_by: str
    invited_at: str
    expires_at: str
    revoked_at: NotRequired[str | None]
    accepted_at: NotRequired[str | None]
    accepted_by: NotRequired[str | None]
    link: str  # For whom it is; shown this once.
    is_mailed: bool  # The mail server has taken the mail.
    mail_problem: str  # Why not, if it was to be sent; else empty.


class MadeJob(TypedDict):
    """One job of a bulk."""

    id: str
    name: str


class Member(TypedDict):
    """A person with a role in a team."""

    name: str  # Of their account.
    role: MemberRole
    team: str  # In which they were entered: this one, or one above it, whose roles hold here.
    is_active: bool  # False: they cannot log in now.
    from_provider: bool  # True: a group of the identity provider gives it, and takes it.


class MemberBody(TypedDict):
    """A document of the API: MemberBody."""

    role: MemberRole
    name: str  # Of an account that is there.


class MemberList(TypedDict):
    """A document of the API: MemberList."""

    may_change: bool  # True if the caller may change who is in it.
    may: list[TeamPermission]  # What the caller may do in the team.
    permissions: list[RolePermission]  # What each role may do.
    items: list[Member]


class Metric(TypedDict):
    """A document of the API: Metric."""

    at: str  # As reported, within what is possible.
    generation: int
    step: int
    epoch: float
    samples: int
    samples_per_second: float
    step_seconds: float
    compute_seconds: float
    communication_seconds: float
    learning_rate: float
    workers: int | None
    global_batch_size: int | None
    values: dict[str, float | None]


class MetricList(TypedDict):
    """A document of the API: MetricList."""

    items: list[Metric]


class MissingTime(TypedDict):
    """A document of the API: MissingTime."""

    pool: str
    # One of `reclaim`, `starting`, `nodes_lost`, `fragmented`, `not_given_back`, `own_order`,
    # `own_limits`, `budget`, `preparing`, `not_planned`.
    cause: str
    label: str  # The cause in words.
    gpu_seconds: float


class Model(TypedDict):
    """A document of the API: Model."""

    name: str
    created_by: str
    created_at: str
    versions: list[ModelVersion]  # Newest first.


class ModelAliasBody(TypedDict):
    """A document of the API: ModelAliasBody."""

    version: str  # A number, another word, or latest.


class ModelData(TypedDict):
    """A document of the API: ModelData."""

    name: str
    path: str
    version: str  # Empty: it was no copy, but the source itself.


class ModelList(TypedDict):
    """A document of the API: ModelList."""

    items: list[Model]


class ModelVersion(TypedDict):
    """A version, and from which checkpoint it is."""

    model: str
    version: int
    aliases: list[str]
    # `storing` for a few seconds; `lost` if the checkpoint was removed before that.
    state: ModelState
    job_id: str  # Which wrote it; it may be gone.
    has_job: bool  # False: that job was deleted.
    job_name: str
    step: int
    epoch: float
    metrics: dict[str, float]  # What was logged right after its step.
    bytes: int  # Of its weights, and of the rest of its training.
    weights_bytes: int
    digest: str  # SHA-256 of its weights, in hexadecimal.
    note: str
    created_by: str
    created_at: str


class ModelVersionBody(TypedDict):
    """Which checkpoint becomes the version."""

    job: str  # Id or name of a job of the team.
    step: NotRequired[str]  # Of its checkpoint, or latest, or best.
    alias: NotRequired[str]  # A word for it from now on.
    note: NotRequired[str]  # For people.


class MonthBefore(TypedDict):
    """A document of the API: MonthBefore."""

    month: str  # As 2026-11.
    total: BalancedCosts


class MonthFairness(TypedDict):
    """It says whether the team was given what it was owed, as its receipt does."""

    message: str
    working_seconds: float  # In which it had work for its guarantee.
    given_seconds: float  # Of these, in which nothing was missing.
    missing_gpu_seconds: float
    missing: list[MissingTime]  # By pool and cause, the largest first.


class MonthReport(TypedDict):
    """What a team used, lent and is charged for in a month, and how its jobs went."""

    month: str  # As 2026-11, of UTC.
    since: str  # From when on there are accounts of it.
    until: str  # Up to the last hour that is closed.
    is_over: bool  # All its hours are closed: it changes no more.
    # For which nobody looked: what changed then was written down at the end of it.
    unseen_seconds: float
    team: str
    message: str  # The most important of it in a sentence or two.
    total: BalancedCosts
    jobs: EndedJobs
    before: TeamMonthBefore  # The month before, to compare with.
    by_pool: list[PoolReport]
    by_person: list[PersonReport]  # The 20 that held most, the largest first.
    by_job: list[JobReport]  # The 20 that held most, the largest first.
    # The 20 that held most, the largest first. A job with two labels is in both.
    by_label: list[LabelReport]
    fairness: MonthFairness


class NewAccountBody(TypedDict):
    """A document of the API: NewAccountBody."""

    key: str
    username: str
    password: str


class NewNode(TypedDict):
    """A node as it is to be."""

    name: str
    pool: str
    gpus: int
    address: NotRequired[str]  # Where its processes reach one another.
    # Where its worker host is reached. Empty: where this installation's settings say. Nodes of the
    # same URL are of one machine.
    host_url: NotRequired[str]
    # Where jobs' coordinators on this node reach the api, such as https://concertina.example.com.
    # Empty: where this installation's settings say.
    service_url: NotRequired[str]
    gpu_uuids: NotRequired[list[str]]  # By index; empty: processes are given GPUs by their numbers.


class NewPasswordBody(TypedDict):
    """A document of the API: NewPasswordBody."""

    password: str  # The one that you have now.
    new_password: str


class NewPool(TypedDict):
    """A pool as it is to be; what is left out has its default."""

    name: str  # That no other one has.
    gpu_type: NotRequired[str]
    policy: NotRequired[str]  # What the planner makes the most of: a policy of this installation.
    policy_options: NotRequired[dict[str, Any]]  # What differs from the policy's defaults.
    # What becomes of a new job that does not fit beside the smallest sizes of all others.
    admission: NotRequired[PoolAdmission]
    dollars_per_gpu_hour: NotRequired[float]  # What policies about money reckon with.
    all_reduce: NotRequired[list[dict[str, Any]]]  # Measured times of an all-reduce.
    # Labels of machines of the Ray cluster: its nodes are made from those that bear all of them.
    # Empty: its nodes are those that are named here.
    ray_selector: NotRequired[dict[str, str]]
    # Of a pool with a Ray selector: how many GPUs of each machine are the pool's; others of the
    # cluster may use the rest. Empty: all.
    gpus_per_node: NotRequired[int | None]
    # Of a pool with `nodes_max`: it asks for machines while it has fewer, and gives none back.
    nodes_min: NotRequired[int]
    # Of a pool with a Ray selector and `gpus_per_node`: it asks the cluster for machines until it
    # has so many, and gives back those that are idle. Empty: it does neither.
    nodes_max: NotRequired[int | None]
    # A machine is asked for where one more GPU would add more. Null: only for jobs.
    worth_a_node: NotRequired[float | None]
    patience_seconds: NotRequired[int]  # A need lasts for so long before a machine is asked for.
    idle_minutes: NotRequired[int]  # A node on which nothing has run for so long is given back.
    # At most so many machines are asked for within an hour, and as many given back.
    nodes_per_hour: NotRequired[int]
    # Where processes of all teams are one user of a machine, as on a Ray cluster without
    # CONCERTINA_RAY_FIRST_UID, a pool serves one team, unless this is ticked: then any team's job
    # can read what the others' have there.
    teams_trust_each_other: NotRequired[bool]
    fair_share: NotRequired[FairShareSetup]
    # Fetched to its nodes before any job names them; blank: the worker image.
    prefetched_images: NotRequired[list[str]]
    nodes: NotRequired[dict[str, NodeSetup]]


class NewTeam(TypedDict):
    """A team as it is to be; what is left out has its default."""

    name: str  # That no other one has.
    parent: NotRequired[str | None]  # The team above it; null: none.
    # Most jobs that may wait, queued or paused; the next one is refused.
    max_queued_jobs: NotRequired[int]
    # Most that its jobs keep on disk, in GiB. Empty: the installation's number.
    most_disk_gib: NotRequired[int | None]
    network: NotRequired[JobNetwork]  # What its jobs may ask for, as `network` in their specs.
    # Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.
    reachable: NotRequired[list[str]]
    # True: each of its members may change, cancel and delete all of the team's jobs, not only those
    # that they submitted themselves.
    members_change_all_jobs: NotRequired[bool]
    limits: NotRequired[TeamLimitsSetup]
    rules: NotRequired[TeamRulesSetup]
    quotas: NotRequired[dict[str, QuotaSetup]]  # By the name of the pool.
    # Patterns of images that its jobs may run; * stands for any characters.
    images: NotRequired[list[str]]
    templates: NotRequired[dict[str, TemplateSetup]]


class NewlyPaused(TypedDict):
    """A job that would have been paused, and is not with the quotas that there are."""

    team: str
    name: str


class NextStep(TypedDict):
    """A document of the API: NextStep."""

    workers: int
    gpus: int  # More than now.
    gain: float  # 0.06: it would be 6 % faster.


class Node(TypedDict):
    """A document of the API: Node."""

    name: str
    gpus: int
    is_schedulable: bool  # false: cordoned, takes no new work.
    is_draining: bool  # true: running jobs move away from it.
    silent_since: str | None  # It has not answered since then, and takes no new work.
    silent_reason: str  # Why, in words; empty: it answers.
    claims: list[Claim]


class NodePage(TypedDict):
    """A document of the API: NodePage."""

    items: list[NodeService]
    next_after: str | None  # null: this is the last page.


class NodeService(TypedDict):
    """A document of the API: NodeService."""

    name: str
    pool: str
    gpus: int
    gpus_used: int  # 0 on a drained node: it may be switched off.
    is_schedulable: bool  # false: cordoned, takes no new work.
    is_draining: bool  # true: running jobs move away from it.
    silent_since: str | None  # It has not answered since then, and takes no new work.
    silent_reason: str  # Why, in words; empty: it answers.
    # Why the cluster takes it back, for which it is drained; empty: it does not.
    leaving_because: str
    memory_bytes: int | None  # Of its machine; null: not known.
    cpus: int | None  # Of its machine; null: not known.
    complaints: list[str]  # For admins: what is too old on its machine, and why that matters.
    stragglers: int  # Workers found slower than their peers there within the last hour.


class NodeSetup(TypedDict):
    """A machine. A new one takes work; cordoning and draining it are not part of the set-up."""

    gpus: NotRequired[int]  # Needed for a new node.
    address: NotRequired[str]  # Where its processes reach one another.
    # Where its worker host is reached. Empty: where this installation's settings say. Nodes of the
    # same URL are of one machine.
    host_url: NotRequired[str]
    # Where jobs' coordinators on this node reach the api, such as https://concertina.example.com.
    # Empty: where this installation's settings say.
    service_url: NotRequired[str]
    gpu_uuids: NotRequired[list[str]]  # By index; empty: processes are given GPUs by their numbers.


class NoticeList(TypedDict):
    """A document of the API: NoticeList."""

    items: list[str]  # Sentences for people.


class Notify(TypedDict):
    """Webhooks that are told of a job, and the occasions."""

    to: list[str]
    on: NotRequired[list[Occasion]]


class OpenInvitation(TypedDict):
    """What somebody is invited to."""

    team: str
    role: str
    invited_by: str
    expires_at: str
    makes_accounts: bool  # True: whoever has no account makes one with a password.


class OtherTeamChange(TypedDict):
    """What it meant for another team of the pool."""

    team: str
    job_hours_saved: float | None  # Negative: its jobs took longer. null: other jobs finished.


class Outlook(TypedDict):
    """What would become of the job if it were submitted now."""

    action: Action | BlankChoice  # Empty: nobody could look ahead, and `message` says why.
    message: str
    pool: str  # In which it would start or wait; empty: nobody looked.
    workers: int | None  # Null: it waits.
    global_batch_size: int | None
    gives_way: list[GivesWay]
    start: Span | None  # Null: at once, or nobody can tell.
    finish: Span | None  # Null: nobody can tell.


class Output(TypedDict):
    """A document of the API: Output."""

    path: str  # Below the outputs.
    is_folder: bool
    bytes: int  # 0 of a folder: what is in it is not counted here.
    modified_at: str


class OutputList(TypedDict):
    """A document of the API: OutputList."""

    items: list[Output]
    next_cursor: str | None


class ParameterDraw(TypedDict):
    """How a parameter's values are drawn: in one of three ways."""

    uniform: NotRequired[list[float] | None]
    log_uniform: NotRequired[list[float] | None]
    choice: NotRequired[str | list[float | str | bool] | None]


class PatchedChangedNode(TypedDict):
    """A node; the pool that it is in, or moves to."""

    pool: NotRequired[str]
    gpus: NotRequired[int]  # Needed for a new node.
    address: NotRequired[str]  # Where its processes reach one another.
    # Where its worker host is reached. Empty: where this installation's settings say. Nodes of the
    # same URL are of one machine.
    host_url: NotRequired[str]
    # Where jobs' coordinators on this node reach the api, such as https://concertina.example.com.
    # Empty: where this installation's settings say.
    service_url: NotRequired[str]
    gpu_uuids: NotRequired[list[str]]  # By index; empty: processes are given GPUs by their numbers.


class PatchedPoolSetup(TypedDict):
    """GPUs of one type, planned together."""

    gpu_type: NotRequired[str]
    policy: NotRequired[str]  # What the planner makes the most of: a policy of this installation.
    policy_options: NotRequired[dict[str, Any]]  # What differs from the policy's defaults.
    # What becomes of a new job that does not fit beside the smallest sizes of all others.
    admission: NotRequired[PoolAdmission]
    dollars_per_gpu_hour: NotRequired[float]  # What policies about money reckon with.
    all_reduce: NotRequired[list[dict[str, Any]]]  # Measured times of an all-reduce.
    # Labels of machines of the Ray cluster: its nodes are made from those that bear all of them.
    # Empty: its nodes are those that are named here.
    ray_selector: NotRequired[dict[str, str]]
    # Of a pool with a Ray selector: how many GPUs of each machine are the pool's; others of the
    # cluster may use the rest. Empty: all.
    gpus_per_node: NotRequired[int | None]
    # Of a pool with `nodes_max`: it asks for machines while it has fewer, and gives none back.
    nodes_min: NotRequired[int]
    # Of a pool with a Ray selector and `gpus_per_node`: it asks the cluster for machines until it
    # has so many, and gives back those that are idle. Empty: it does neither.
    nodes_max: NotRequired[int | None]
    # A machine is asked for where one more GPU would add more. Null: only for jobs.
    worth_a_node: NotRequired[float | None]
    patience_seconds: NotRequired[int]  # A need lasts for so long before a machine is asked for.
    idle_minutes: NotRequired[int]  # A node on which nothing has run for so long is given back.
    # At most so many machines are asked for within an hour, and as many given back.
    nodes_per_hour: NotRequired[int]
    # Where processes of all teams are one user of a machine, as on a Ray cluster without
    # CONCERTINA_RAY_FIRST_UID, a pool serves one team, unless this is ticked: then any team's job
    # can read what the others' have there.
    teams_trust_each_other: NotRequired[bool]
    fair_share: NotRequired[FairShareSetup]
    # Fetched to its nodes before any job names them; blank: the worker image.
    prefetched_images: NotRequired[list[str]]
    nodes: NotRequired[dict[str, NodeSetup]]


class PatchedQuotaChange(TypedDict):
    """A document of the API: PatchedQuotaChange."""

    pool: NotRequired[str]
    # GPUs the team gets back within seconds when it has work for them.
    guaranteed_gpus: NotRequired[int]
    limit_gpus: NotRequired[int | None]  # Most GPUs the team may hold. Empty: the whole pool.
    # Most GPUs of the guarantee that others may use while it is idle. Empty: all.
    lending_limit_gpus: NotRequired[int | None]
    # Share of idle GPUs beyond the guarantee, relative to other teams.
    over_quota_weight: NotRequired[float]


class PatchedRetentionBody(TypedDict):
    """What to change; null takes it back."""

    days: NotRequired[int | None]  # 0: for ever.
    least_days: NotRequired[int | None]  # Admins only.
    most_days: NotRequired[int | None]  # Admins only.


class PatchedRoleBody(TypedDict):
    """A document of the API: PatchedRoleBody."""

    role: NotRequired[MemberRole]


class PatchedRulesBody(TypedDict):
    """What to change: a part that is named takes the place of the whole; null takes it away."""

    # What a job gets where its spec and its template say nothing; at most 16384 characters.
    defaults: NotRequired[dict[str, Any] | None]
    # `least` and `most` of fields, written as the field is; `gpus` is of all workers of a job
    # together.
    bounds: NotRequired[dict[str, dict[str, Any]] | None]
    # Labels that each job has: one of `values`, a `pattern` in which * is any characters, or, with
    # neither, any value.
    labels: NotRequired[dict[str, dict[str, Any]] | None]
    pools: NotRequired[list[str] | None]  # Pools in which its jobs may run, at most 100; null: all.
    modes: NotRequired[list[str] | None]  # Values that `elastic.mode` may have; null: all.
    # True: leads of the team itself change nothing of them. For admins, and leads of a team above.
    is_locked: NotRequired[bool]


class PatchedScheduleChangeBody(TypedDict):
    """A document of the API: PatchedScheduleChangeBody."""

    # A job spec, which may have an `array`. It is submitted as any other, and its `name` gets the
    # moment behind it; it may have no `deadline`, and its `team` may be left out.
    spec: NotRequired[dict[str, Any]]
    # Minute, hour, day of the month, month, day of the week; no oftener than every 5 minutes.
    cron: NotRequired[str]
    # Of the IANA database, such as `Europe/Berlin`: in which `cron` is read.
    time_zone: NotRequired[str]
    # While a job of it lives: `skip` the time, `allow` another beside it, or `replace` it, which
    # cancels it.
    overlap: NotRequired[Overlap]
    # Of times that were due while the service was away: the `last`, if it is not longer ago than
    # `start_within`, or `none`.
    catch_up: NotRequired[CatchUp]
    start_within: NotRequired[int]  # Seconds after which a time that was due is missed.


class PatchedTeamChange(TypedDict):
    """What may be changed of a team."""

    name: NotRequired[str]  # Another name. GPU time of before stays under the former one.
    # Most jobs that may wait, queued or paused; the next one is refused.
    max_queued_jobs: NotRequired[int]
    # Most that its jobs keep on disk, in GiB. Empty: the installation's number.
    most_disk_gib: NotRequired[int | None]
    network: NotRequired[JobNetwork]  # What its jobs may ask for, as `network` in their specs.
    # Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.
    reachable: NotRequired[list[str]]
    # True: each of its members may change, cancel and delete all of the team's jobs, not only those
    # that they submitted themselves.
    members_change_all_jobs: NotRequired[bool]
    parent: NotRequired[str | None]  # The team above it; null: none.
    # That it and the teams below it may use in a month of UTC. null: no limit.
    gpu_hours_per_month: NotRequired[float | None]
    # Most GPUs that the team's jobs of one person, or one token, hold at once, in all pools
    # together; in each team below as well. null: no limit.
    max_gpus_per_user: NotRequired[int | None]
    # Most jobs of the team that wait of those that one person, or one token, has submitted. null:
    # no limit.
    max_queued_jobs_per_user: NotRequired[int | None]
    # Most jobs of it and the teams below it that hold GPUs at once; further ones wait. null: no
    # limit.
    max_running_jobs: NotRequired[int | None]
    # Most of these that one person, or one token, has submitted. null: no limit.
    max_running_jobs_per_user: NotRequired[int | None]
    when_used_up: NotRequired[WhenUsedUp]  # What becomes of its jobs when these are used up.


class PatchedTemplateChangeBody(TypedDict):
    """What to change of a template; what is left out stays."""

    description: NotRequired[str]
    spec: NotRequired[dict[str, Any]]


class PatchedWebhookChangeBody(TypedDict):
    """A document of the API: PatchedWebhookChangeBody."""

    # Of events. None: all, also what is of no job: months, schedules.
    kinds: NotRequired[list[WebhookEventKind]]
    # Of changes of state only those to one of these. None: all.
    states: NotRequired[list[JobState]]
    # true: it is told only of jobs that name it in their `notify`.
    is_on_request: NotRequired[bool]
    is_enabled: NotRequired[bool]  # false: nothing is sent, nor kept to be sent later.


class PausedDetails(TypedDict):
    """A running job that gives everything back."""

    kind: Literal["paused"]
    needed_gpus: int
    reserved: Reserved | None  # It was a guest on these.


class PerGpuBatch(TypedDict):
    """The memory limit of one worker's share."""

    max: NotRequired[int | Literal["auto"]]


class Period(TypedDict):
    """The jobs that ended in a stretch of time."""

    completed: int
    failed: int
    cancelled: int
    mean_completion_seconds: float | None
    p50_completion_seconds: float | None
    p99_completion_seconds: float | None
    gpu_seconds: float  # Held in that time by all jobs.
    utilisation: float  # Share of all GPUs in use, 0 to 1.
    rescales: int
    longest_stall_seconds: float


class PersonReport(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.
    user: str  # The person, or the token, that submitted the jobs.


class PersonalToken(TypedDict):
    """A token of a person, without its key."""

    id: int
    name: str
    prefix: str  # The first characters, to recognise it by.
    state: TokenState  # What it is now.
    scopes: list[TokenScope]
    pools: list[str] | None  # The only pools whose jobs it reaches. null: any.
    labels: dict[str, str] | None  # What all jobs that it reaches have. null: any.
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None  # To the minute; null: never.
    last_used_from: str  # The address that was seen then, of IPv6 its network. Empty: none yet.


class PersonalTokenBody(TypedDict):
    """What limits a token to some jobs, whatever its scopes let it do with these."""

    # Until it expires; without it 90, or as many as are allowed. null: never, for admins alone.
    days: NotRequired[int | None]
    # It reaches jobs in these pools alone, and submits to no others. null, or empty: any. At most
    # 20.
    pools: NotRequired[list[str] | None]
    # It reaches jobs alone that have all of these labels. What it submits gets them. null, or
    # empty: any. At most 10.
    labels: NotRequired[dict[str, str] | None]
    name: str  # What it is for.
    # What it may do of what you may. Without it, all but what admins alone may.
    scopes: NotRequired[list[TokenScope]]


class PersonalTokenList(TypedDict):
    """A document of the API: PersonalTokenList."""

    longest_days: int  # How long tokens may last; those of admins may last longer.
    items: list[PersonalToken]


class Plans(TypedDict):
    """Do jobs start, grow and shrink as they should?"""

    are_applied: bool  # Of every pool.
    since: str | None  # When that ended; null: it holds.
    message: str  # What is wrong and where to look; or empty.
    jobs_left_out: int  # Jobs that are left out of plans, because the planner fails on their data.


class Policy(TypedDict):
    """A policy of this installation, which may be an extension's."""

    name: str
    summary: str  # What it does, to stand behind its name.
    options: list[PolicyOption]


class PolicyList(TypedDict):
    """A document of the API: PolicyList."""

    items: list[Policy]


class PolicyOption(TypedDict):
    """A document of the API: PolicyOption."""

    name: str
    explanation: str
    default: Any  # A number, or one of the choices.
    choices: list[str]  # None: the option is a number.
    at_least: float | None  # null: it has no lower bound.


class Pool(TypedDict):
    """A document of the API: Pool."""

    name: str
    gpu_type: str
    policy: str  # See docs/planning/policies.md.
    policy_options: dict[str, Any]  # What differs from its defaults.
    admission: PoolAdmission  # dropping: new jobs that do not fit are refused.
    dollars_per_gpu_hour: float
    gpus_total: int
    gpus_used: int
    # Of those that teams are guaranteed, what is not there now: nodes of a pool that follows a
    # cluster come and go.
    gpus_missing: int
    # Labels of the machines of its cluster that are its nodes; empty: none.
    ray_selector: dict[str, Any]
    following_note: str  # For admins: what to know of these machines, a line each; empty: nothing.
    # true: any team's job may read what the others' have on its machines, because processes of all
    # teams are one user there, and an admin said that they trust each other.
    teams_trust_each_other: bool
    machines: PoolMachines | None  # null: the pool asks its cluster for no machines.
    price: float | None  # What one more GPU would add.
    gap: float | None  # 0: the newest plan is optimal.
    nodes: list[Node]


class PoolList(TypedDict):
    """A document of the API: PoolList."""

    items: list[Pool]


class PoolMachines(TypedDict):
    """A document of the API: PoolMachines."""

    nodes_min: int
    nodes_max: int
    gpus_per_node: int  # That each machine brings.
    worth_a_node: float | None  # A machine is asked for where one more GPU would add more.
    patience_seconds: int  # For so long a need has to last.
    idle_minutes: int  # A node on which nothing runs for so long is given back.
    nodes_per_hour: int  # At most so many are asked for within an hour, and as many given back.
    needed_since: str | None  # Since then one more node has been needed.
    asked_since: str | None  # A machine was asked for then, and takes no work yet.
    # Why none is asked for or given back though there is reason to; empty: nothing hinders.
    note: str
    events: list[MachineEvent]  # What was decided last, newest first.


class PoolOffer(TypedDict):
    """What one of a job's pools is worth to it. A speed of 1: its smallest size in the slowest."""

    pool: str
    is_chosen: bool  # It starts there, or waits.
    answer: PoolAnswer  # What became of it when it asked.
    workers: int  # That it could expect; 0: the pool is full.
    speed: float  # With these; of a full pool with its smallest size.
    loss: float  # How much slower the jobs there would be together.
    is_measured: bool  # False: taken to be as fast as elsewhere.
    dollars_per_gpu_hour: float


class PoolReceipt(TypedDict):
    """A document of the API: PoolReceipt."""

    pool: str
    working_seconds: float  # In which it had work for its guarantee.
    given_seconds: float  # Of these, in which nothing was missing.


class PoolReport(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.
    pool: str


class PoolSetup(TypedDict):
    """GPUs of one type, planned together."""

    gpu_type: NotRequired[str]
    policy: NotRequired[str]  # What the planner makes the most of: a policy of this installation.
    policy_options: NotRequired[dict[str, Any]]  # What differs from the policy's defaults.
    # What becomes of a new job that does not fit beside the smallest sizes of all others.
    admission: NotRequired[PoolAdmission]
    dollars_per_gpu_hour: NotRequired[float]  # What policies about money reckon with.
    all_reduce: NotRequired[list[dict[str, Any]]]  # Measured times of an all-reduce.
    # Labels of machines of the Ray cluster: its nodes are made from those that bear all of them.
    # Empty: its nodes are those that are named here.
    ray_selector: NotRequired[dict[str, str]]
    # Of a pool with a Ray selector: how many GPUs of each machine are the pool's; others of the
    # cluster may use the rest. Empty: all.
    gpus_per_node: NotRequired[int | None]
    # Of a pool with `nodes_max`: it asks for machines while it has fewer, and gives none back.
    nodes_min: NotRequired[int]
    # Of a pool with a Ray selector and `gpus_per_node`: it asks the cluster for machines until it
    # has so many, and gives back those that are idle. Empty: it does neither.
    nodes_max: NotRequired[int | None]
    # A machine is asked for where one more GPU would add more. Null: only for jobs.
    worth_a_node: NotRequired[float | None]
    patience_seconds: NotRequired[int]  # A need lasts for so long before a machine is asked for.
    idle_minutes: NotRequired[int]  # A node on which nothing has run for so long is given back.
    # At most so many machines are asked for within an hour, and as many given back.
    nodes_per_hour: NotRequired[int]
    # Where processes of all teams are one user of a machine, as on a Ray cluster without
    # CONCERTINA_RAY_FIRST_UID, a pool serves one team, unless this is ticked: then any team's job
    # can read what the others' have there.
    teams_trust_each_other: NotRequired[bool]
    fair_share: NotRequired[FairShareSetup]
    # Fetched to its nodes before any job names them; blank: the worker image.
    prefetched_images: NotRequired[list[str]]
    nodes: NotRequired[dict[str, NodeSetup]]


class Prediction(TypedDict):
    """When a live job starts and finishes, from replaying the plan forward."""

    made_at: str
    old_at: str  # From then on it is old, and `finish` goes by what the job has done since.
    start: Span | None  # Null: it has started.
    finish: Span | None  # Null: nothing is known of its length.
    lately: Lately | None  # Null: nothing like it has ended yet.


class PrefetchedImage(TypedDict):
    """A document of the API: PrefetchedImage."""

    id: int
    pool: str
    image: NotRequired[str]  # Blank: the platform's worker image.
    nodes: list[ImageOnNode]  # What the control loop heard last.


class PrefetchedImageList(TypedDict):
    """A document of the API: PrefetchedImageList."""

    items: list[PrefetchedImage]


class PreviewResult(TypedDict):
    """What came out, for teams whose numbers the reader sees."""

    until: str  # The past goes up to then.
    jobs: int  # That were replayed, of all teams.
    teams: list[BeforeAfter]
    paused: list[NewlyPaused]  # Of the reader's teams; at most 1,000.


class PreviewedPool(TypedDict):
    """A pool with more GPUs, or fewer."""

    pool: str
    add_gpus: int  # Negative: fewer.


class PreviewedQuota(TypedDict):
    """A quota as it would be. Fields that are not named stay as they are."""

    team: str
    pool: NotRequired[str]
    guaranteed_gpus: NotRequired[int]
    limit_gpus: NotRequired[int | None]
    lending_limit_gpus: NotRequired[int | None]
    over_quota_weight: NotRequired[float]


class Price(TypedDict):
    """A document of the API: Price."""

    at: str
    price: float | None
    gap: float | None


class PriceEffect(TypedDict):
    """How the team and the others fared with it."""

    team: TeamOutcome | None
    # By which all of the team's jobs together ended earlier; negative: later. null: not the same
    # number of them finished.
    job_hours_saved: float | None
    others: list[OtherTeamChange]  # For which something changed, and whose numbers the reader sees.


class PriceStep(TypedDict):
    """The guarantee with some GPUs more or fewer."""

    team: TeamOutcome | None
    # By which all of the team's jobs together ended earlier; negative: later. null: not the same
    # number of them finished.
    job_hours_saved: float | None
    others: list[OtherTeamChange]  # For which something changed, and whose numbers the reader sees.
    gpus: int  # More; negative: fewer.
    # Of these, as many as the pool has promised to others already, and has more here.
    adds_gpus: int


class Prices(TypedDict):
    """A document of the API: Prices."""

    pool: str
    policy: str  # In whose unit the prices are, as it is now.
    items: list[Price]  # Oldest first, at most 600.
    alarms: list[str]  # When a plan was refused; at most 100.


class Problem(TypedDict):
    """A document of the API: Problem."""

    field: str
    value: Any
    problem: str
    remedy: str


class Quarantine(TypedDict):
    """The job is left out of plans, because the planner fails on its data."""

    since: str
    failures: int  # In a row.
    retry_at: str
    error: str | None  # For admins; null: for others.


class Quota(TypedDict):
    """A document of the API: Quota."""

    pool: str
    guaranteed_gpus: int  # GPUs the team gets back within seconds when it has work for them.
    limit_gpus: int | None  # Most GPUs the team may hold. Empty: the whole pool.
    # Most GPUs of the guarantee that others may use while it is idle. Empty: all.
    lending_limit_gpus: int | None
    over_quota_weight: float  # Share of idle GPUs beyond the guarantee, relative to other teams.


class QuotaChange(TypedDict):
    """A document of the API: QuotaChange."""

    pool: str
    # GPUs the team gets back within seconds when it has work for them.
    guaranteed_gpus: NotRequired[int]
    limit_gpus: NotRequired[int | None]  # Most GPUs the team may hold. Empty: the whole pool.
    # Most GPUs of the guarantee that others may use while it is idle. Empty: all.
    lending_limit_gpus: NotRequired[int | None]
    # Share of idle GPUs beyond the guarantee, relative to other teams.
    over_quota_weight: NotRequired[float]


class QuotaList(TypedDict):
    """A document of the API: QuotaList."""

    items: list[QuotaChange]


class QuotaPreview(TypedDict):
    """How far it is. Each kind says what was asked, and what came out."""

    id: str
    state: SimulationState
    progress: float  # Share of all simulated jobs that ended.
    requested_by: str  # Their name then.
    requested_at: str
    started_at: str | None
    finished_at: str | None
    error: str
    request: QuotaPreviewRequest
    result: PreviewResult | None


class QuotaPreviewRequest(TypedDict):
    """What is changed, and how many days of the past are replayed with it."""

    quotas: NotRequired[list[PreviewedQuota]]
    pools: NotRequired[list[PreviewedPool]]
    days: NotRequired[float]  # The last days.


class QuotaPrice(TypedDict):
    """How far it is. Each kind says what was asked, and what came out."""

    id: str
    state: SimulationState
    progress: float  # Share of all simulated jobs that ended.
    requested_by: str  # Their name then.
    requested_at: str
    started_at: str | None
    finished_at: str | None
    error: str
    request: QuotaPriceRequest
    result: QuotaPriceResult | None


class QuotaPriceRequest(TypedDict):
    """Whose guarantee, by how many GPUs it varies, and how many days of the past are replayed."""

    team: str
    pool: NotRequired[str]
    # GPUs that the guarantee has more; negative: fewer. Left out: 2 and 1 fewer, 1, 2 and 4 more,
    # as far as it has them to give.
    steps: NotRequired[list[int]]
    days: NotRequired[float]  # The last days.


class QuotaPriceResult(TypedDict):
    """What came out."""

    until: str  # The past goes up to then.
    jobs: int  # That were replayed, of all teams.
    now: TeamOutcome | None  # As it is. null: neither jobs nor a guarantee.
    # As if it could hold its guarantee and no more; what it saves is negative where borrowed GPUs
    # helped. null: it is guaranteed nothing.
    without_borrowing: PriceEffect | None
    steps: list[PriceStep]


class QuotaSetup(TypedDict):
    """What a team may use of a pool."""

    # GPUs the team gets back within seconds when it has work for them.
    guaranteed_gpus: NotRequired[int]
    limit_gpus: NotRequired[int | None]  # Most GPUs the team may hold. Empty: the whole pool.
    # Most GPUs of the guarantee that others may use while it is idle. Empty: all.
    lending_limit_gpus: NotRequired[int | None]
    # Share of idle GPUs beyond the guarantee, relative to others.
    over_quota_weight: NotRequired[float]


class ReasonBody(TypedDict):
    """A document of the API: ReasonBody."""

    reason: NotRequired[str]  # For the record.


class RefusedDetails(TypedDict):
    """A job that can never start as it is."""

    kind: Literal["refused"]
    needed_gpus: int
    pool_gpus: int
    team: TeamShare
    user: UserShare | None
    remedy: Remedy | None  # What would make it possible.


class Remedy(TypedDict):
    """The one change that would start a job, in the numbers that its kind has."""

    kind: RemedyKind
    gpus: int | None
    workers: int | None
    priority: int | None
    pool: str | None
    node: NotRequired[str | None]
    paused_jobs: int  # Running jobs that it would pause.


class Removal(TypedDict):
    """A document of the API: Removal."""

    part: RemovedPart  # `job`: all that is left of it.
    due_at: str | None  # Null: never, as things are, or the job has not ended.
    removed_at: str | None  # Null: it is there.


class RescaledDetails(TypedDict):
    """A job that gets other workers or another batch."""

    kind: Literal["rescaled"]
    before: Choice
    after: Choice
    gain: float | None  # Predicted; null: not known.
    stall_seconds: float | None  # Its expected cost.
    team: TeamShare
    user: UserShare | None
    pool_gpus: int


class Reserved(TypedDict):
    """GPUs that add up for a large job which has waited long. Moments are seconds since 1970."""

    job: JobRef
    gpus: int
    saved_gpus: int  # Free, or used by guests that give way.
    since: float
    promised_at: float | None  # By what is known of the lengths of running jobs.


class Resources(TypedDict):
    """What one worker gets, and what all of them together may write."""

    gpus_per_worker: NotRequired[int]
    cpus: NotRequired[float | None]
    memory: NotRequired[str | None]
    shm_size: NotRequired[str | None]
    disk_per_job: NotRequired[str | None]


class Restart(TypedDict):
    """What it cost to start a script with other workers, as far as their logs tell."""

    ordered_at: str  # When the workers before were to stop or, without any, these to start.
    seconds: float | None  # About, from then until the `sign`; null: not known.
    # What they were first seen to write: the number of a step, or at least a line.
    sign: RestartSign | BlankChoice
    repeated_units: float | None  # At least so many were made again; null: not known.
    # `count`: of what it counts within an epoch, iterations or samples.
    repeated_unit: ProgressUnit | BlankChoice
    repeated_seconds: float | None  # What that had taken, about, and at least; null: not known.
    message: str  # The same in words.


class Result(TypedDict):
    """A document of the API: Result."""

    trace: str
    gpus: int
    verdict: str
    runs: list[Run]


class Retry(TypedDict):
    """How often a job whose own code fails is started again."""

    max_restarts: NotRequired[int]


class Rival(TypedDict):
    """The job that gained most from the last step it was given."""

    job: JobRef
    workers: int
    gpus: int
    gain: float


class RolePermission(TypedDict):
    """Something that people may do in a team by their role."""

    permission: TeamPermission
    meaning: str  # What it lets its holder do.
    roles: list[MemberRole]  # Who has it; admins have all.


class RotationBody(TypedDict):
    """A document of the API: RotationBody."""

    # Until it expires; without it 90, or as many as are allowed. null: never, for admins alone.
    days: NotRequired[int | None]
    # How long the former key opens as well. 0: it is revoked at once.
    overlap_hours: NotRequired[int]


class RuleSet(TypedDict):
    """What a team says of the specs of its jobs."""

    # What a job gets where its spec and its template say nothing; at most 16384 characters.
    defaults: NotRequired[dict[str, Any] | None]
    # `least` and `most` of fields, written as the field is; `gpus` is of all workers of a job
    # together.
    bounds: NotRequired[dict[str, dict[str, Any]] | None]
    # Labels that each job has: one of `values`, a `pattern` in which * is any characters, or, with
    # neither, any value.
    labels: NotRequired[dict[str, dict[str, Any]] | None]
    pools: NotRequired[list[str] | None]  # Pools in which its jobs may run, at most 100; null: all.
    modes: NotRequired[list[str] | None]  # Values that `elastic.mode` may have; null: all.


class RulesAbove(TypedDict):
    """The rules of a team above, which count as well."""

    team: str
    rules: RuleSet


class Run(TypedDict):
    """Figures of one run; times in seconds, of finished jobs. null: no job gives the figure."""

    label: str  # Policy, and the cluster where there are two.
    jobs: int
    done: int
    dropped: int
    backlog: int  # Neither finished nor dropped at the end.
    mean_completion_seconds: float | None
    p50_completion_seconds: float | None
    p99_completion_seconds: float | None
    mean_wait_seconds: float | None
    makespan_seconds: float | None
    gpu_hours: float
    utilisation: float  # Share of all GPU time that jobs held.
    scaling_efficiency: float | None
    rescales_per_job: float
    pauses_per_job: float
    worst_fairness: float | None
    deadlines_met: float | None
    mean_decision_seconds: float | None
    max_decision_seconds: float | None


class RunningDetails(TypedDict):
    """A job that stays as it is."""

    kind: Literal["running"]
    hindrance: Hindrance  # Why it has not more.
    next_step: NextStep | None
    rival: Rival | None
    team: TeamShare
    user: UserShare | None


class Sample(TypedDict):
    """A document of the API: Sample."""

    at: str
    used: dict[str, int]  # GPUs by team.
    waiting: dict[str, int]  # GPUs that waiting jobs ask for at least, by team.
    guaranteed: dict[str, int]  # GPUs that were guaranteed then, by team.


class ScaleOn(TypedDict):
    """A metric the script logs, and between which values the job's size is right."""

    metric: str
    grow_above: NotRequired[float | None]
    shrink_below: NotRequired[float | None]


class Schedule(TypedDict):
    """A schedule, without its spec."""

    id: str
    team: str
    name: str
    cron: str
    time_zone: str
    overlap: Overlap
    catch_up: CatchUp
    start_within: int  # Seconds.
    version: int  # Counts up with each change; whoever changes it says which one they read.
    holder: str  # In whose name it submits.
    is_paused: bool
    paused_because: str  # Who paused it, and why; empty: it goes on.
    next_at: str | None  # null: it is paused.
    failures: int  # Of the last runs, in a row, that were refused or failed.
    last_run: ScheduleRun | None
    # True if the caller may pause and delete it, and with `may_run` change it, too.
    may_change: bool
    may_run: bool  # True if the caller may submit its spec.
    created_at: str
    created_by: str
    changed_at: str


class ScheduleBody(TypedDict):
    """A document of the API: ScheduleBody."""

    name: str
    # A job spec, which may have an `array`. It is submitted as any other, and its `name` gets the
    # moment behind it; it may have no `deadline`, and its `team` may be left out.
    spec: dict[str, Any]
    # Minute, hour, day of the month, month, day of the week; no oftener than every 5 minutes.
    cron: str
    # Of the IANA database, such as `Europe/Berlin`: in which `cron` is read.
    time_zone: NotRequired[str]
    # While a job of it lives: `skip` the time, `allow` another beside it, or `replace` it, which
    # cancels it.
    overlap: NotRequired[Overlap]
    # Of times that were due while the service was away: the `last`, if it is not longer ago than
    # `start_within`, or `none`.
    catch_up: NotRequired[CatchUp]
    start_within: NotRequired[int]  # Seconds after which a time that was due is missed.


class ScheduleList(TypedDict):
    """A document of the API: ScheduleList."""

    items: list[Schedule]


class ScheduleRun(TypedDict):
    """One time that was due, or at which somebody asked for it, and what became of it."""

    due_at: str
    asked_by: str  # Who asked for it; empty: it was due.
    state: ScheduleRunState
    message: str  # Why there is no job; mostly empty.
    jobs: list[ScheduledJob]  # The first of them.
    job_count: int  # More than one of a spec with an `array`.
    ended_at: str | None  # null: it waits.


class ScheduledJob(TypedDict):
    """A job that a run became; it may be deleted by now."""

    id: str
    name: str


class Secret(TypedDict):
    """A secret without what is in it."""

    name: str
    kind: SecretKind
    variables: list[str]  # What it sets.
    registry: str  # Of a login; else empty.
    created_at: str
    updated_at: str
    updated_by: str
    jobs: list[UsingJob]  # Live jobs that need it; at most 20.
    jobs_count: int  # How many live jobs need it.


class SecretBody(TypedDict):
    """What to keep: `variables` of an environment, or the login of a registry."""

    kind: SecretKind
    variables: NotRequired[dict[str, str]]
    registry: NotRequired[str]  # Such as registry.example.com:5000.
    username: NotRequired[str]
    password: NotRequired[str]


class SecretList(TypedDict):
    """A document of the API: SecretList."""

    may_set: bool  # True if the caller may set and delete them.
    items: list[Secret]


class Session(TypedDict):
    """A document of the API: Session."""

    user: User
    notices: list[str]  # What whoever signs in should know; for people.


class Setup(TypedDict):
    """All that admins set up. Objects and fields that are left out stay as they are."""

    pools: NotRequired[dict[str, PoolSetup]]
    teams: NotRequired[dict[str, TeamSetup]]
    images: NotRequired[list[str]]  # Patterns of images that everybody's jobs may run.


class SetupBody(TypedDict):
    """A set-up as it is wanted."""

    setup: Setup
    # Remove what the document leaves out of a group that it names: of `pools`, `teams`, `images`,
    # and of a pool's `nodes`, say. Otherwise that stays.
    prune: NotRequired[bool]


class SetupChange(TypedDict):
    """What becomes of an object."""

    kind: SetupKind
    of: str  # The team of a quota or rule, the pool of an image; empty: of none.
    name: str  # A quota is called as its pool, a rule as its pattern.
    action: SetupAction
    fields_changed: list[SetupFieldChange]  # Of a new object what the document says of it.


class SetupFieldChange(TypedDict):
    """A document of the API: SetupFieldChange."""

    field: str
    before: Any | None  # null, too, if it is new.
    after: Any | None  # null, too, if it is removed.


class SetupObject(TypedDict):
    """An object of the set-up."""

    kind: SetupKind
    of: str  # The team of a quota or rule, the pool of an image; empty: of none.
    name: str  # A quota is called as its pool, a rule as its pattern.


class SetupOutcome(TypedDict):
    """What changes; nothing, if the set-up is as the document says."""

    changes: list[SetupChange]
    kept: list[SetupObject]  # In groups that the document names, but not named: `prune` removes it.
    version_before: str  # Send it as `If-Match` to apply just this.
    version: str  # Of the set-up with these changes.


class ShellBody(TypedDict):
    """Refuses what it has no field for."""

    command: NotRequired[list[str]]  # The program and its arguments; none: a shell.
    worker: NotRequired[str]  # Its id, or its rank. Default: the first.
    is_terminal: NotRequired[bool]  # The command has a terminal, as in a window.
    rows: NotRequired[int]
    columns: NotRequired[int]


class ShellInputBody(TypedDict):
    """Refuses what it has no field for."""

    # The first piece is 1, the next one 2: what was taken is not taken again, and where one is
    # missing the shell ends.
    number: int
    content: NotRequired[str]  # At most 32768 bytes as base64. None: the client is still there.
    is_last: NotRequired[bool]  # The command's standard input ends.
    rows: NotRequired[int]
    columns: NotRequired[int]
    signal: NotRequired[ShellSignal | BlankChoice]


class Shortfall(TypedDict):
    """A document of the API: Shortfall."""

    pool: str
    # One of `reclaim`, `starting`, `nodes_lost`, `fragmented`, `not_given_back`, `own_order`,
    # `own_limits`, `budget`, `preparing`, `not_planned`.
    cause: str
    label: str  # The cause in words.
    gpu_seconds: float
    since: str
    until: str
    guaranteed_gpus: int  # For the team's own jobs, at that time.
    gpus: int  # That were missing for this cause.
    jobs: list[str]  # That waited for them; the first 20 if there were more.


class SignInMethods(TypedDict):
    """A document of the API: SignInMethods."""

    provider: SignInProvider | None  # An OpenID provider; null: there is none.
    proxy: SignInProxy | None  # A proxy by which this request came, and which vouches for you.


class SignInProvider(TypedDict):
    """A document of the API: SignInProvider."""

    name: str  # As people call it.
    # Where a browser goes to sign in, with `next`, the path that it wants, as a parameter.
    address: str


class SignInProxy(TypedDict):
    """A document of the API: SignInProxy."""

    name: str  # Who you are, as the proxy says.
    address: str  # As that of a provider.


class SimulatedQuota(TypedDict):
    """A team's quota in the changed cluster."""

    team: str
    guaranteed_gpus: int
    limit_gpus: NotRequired[int | None]
    over_quota_weight: NotRequired[float]


class Simulation(TypedDict):
    """A document of the API: Simulation."""

    id: str
    title: str
    state: SimulationState
    progress: float  # Share of all simulated jobs that ended.
    requested_by: str  # Their name then.
    requested_at: str
    started_at: str | None
    finished_at: str | None
    error: str


class SimulationDetail(TypedDict):
    """A document of the API: SimulationDetail."""

    id: str
    title: str
    state: SimulationState
    progress: float  # Share of all simulated jobs that ended.
    requested_by: str  # Their name then.
    requested_at: str
    started_at: str | None
    finished_at: str | None
    error: str
    request: SimulationRequest
    result: Result | None


class SimulationList(TypedDict):
    """A document of the API: SimulationList."""

    items: list[Simulation]


class SimulationRequest(TypedDict):
    """What to simulate. With `add_gpus` or `quotas`, every policy on the changed cluster too."""

    title: NotRequired[str]
    trace: TraceSource
    policies: list[str]  # Like `completion_time` or `fixed_batch:batch=min`.
    pool: NotRequired[str]
    add_gpus: NotRequired[int]  # Negative: fewer.
    quotas: NotRequired[list[SimulatedQuota]]
    admission: NotRequired[SimulatedAdmission]
    tick_seconds: NotRequired[float]
    stall_seconds: NotRequired[float]
    # Hours between failures of one node, on average. Null: nodes never fail.
    node_failure_hours: NotRequired[float | None]
    horizon_hours: NotRequired[float | None]
    seed: NotRequired[int]


class SizeAdvice(TypedDict):
    """What each GPU brought, and the range of workers with which less would be wasted."""

    job_id: str
    # `unknown`: too little was measured; `keep`: all sizes were worth their GPUs; `fewer`: with
    # fewer workers at most much is saved, and little lost.
    verdict: SizeVerdict
    message: str
    gpu_seconds: float  # In which it trained.
    gpu_seconds_below_half: float  # Of these, at sizes with an efficiency below 50 %.
    # The size up to which each GPU more brought at least half as much as one of the first. null:
    # not known.
    knee: int | None
    # Of the GPU time of workers beyond the knee, the share that brought nothing.
    wasted_share: float
    suggested: SuggestedRange | None
    sizes: list[TriedSize]  # By their number of workers.


class Span(TypedDict):
    """Percentiles of a moment; null: later than was looked ahead."""

    p10: str | None
    p50: str | None
    p90: str | None


class Sparkline(TypedDict):
    """The course of one job, small enough for a line of a list."""

    job_id: str
    metric: str  # Its loss, or what else it logs; empty: it logged no number.
    values: list[float]  # Evenly thinned, oldest first.


class SparklineList(TypedDict):
    """A document of the API: SparklineList."""

    items: list[Sparkline]


class Standing(TypedDict):
    """One team in one pool; GPUs unless it says otherwise."""

    pool: str
    guaranteed: int
    limit: int | None  # null: no limit but the pool.
    fair_share: int  # Of what is there, for what all want now.
    allocated: int
    borrowed: int  # Held beyond its guarantee.
    lent: int  # Of its guarantee, held by others.
    reserved: int  # Of its guarantee, idle and never lent.
    pending_request: int  # What its waiting jobs need at least.
    reclaim_exposure: int  # What it would have to give back if every team wanted its claim.
    usage_decayed: float  # GPU-seconds of the past, halved every half-life.
    share_rank: int  # 1: borrows next.


class StandingList(TypedDict):
    """A document of the API: StandingList."""

    items: list[Standing]


class StartFrom(TypedDict):
    """Which checkpoint, and how much of it: its weights, or all of the training."""

    job: NotRequired[str | None]
    step: NotRequired[int | Literal["latest", "best"] | None]
    model: NotRequired[str | None]
    what: NotRequired[Literal["weights", "all"]]
    skip: NotRequired[list[str]]


class StartedDetails(TypedDict):
    """A waiting job that starts."""

    kind: Literal["started"]
    team: TeamShare
    pools: NotRequired[list[PoolOffer]]  # Of a job that may be in several: best first.


class StartedDeviceLogin(TypedDict):
    """A document of the API: StartedDeviceLogin."""

    device_code: str  # For the command line alone.
    user_code: str  # For the person, who types it on the page `/device` of the dashboard.
    expires_in: int  # Seconds for which both codes are good.
    interval: int  # Seconds between two polls, at least.


class StoringJob(TypedDict):
    """A document of the API: StoringJob."""

    id: str
    name: str
    state: JobState
    is_pinned: bool
    finished_at: str | None
    bytes: int


class SubmittedJobs(TypedDict):
    """The jobs of a bulk, in its order, and what their user should know."""

    items: list[MadeJob]
    array: str | None  # The id of the array whose trials they are.
    notes: list[str]  # Each once, of whichever jobs; at most 20.


class SuggestedRange(TypedDict):
    """A document of the API: SuggestedRange."""

    min_workers: int
    max_workers: int
    # Those of the job's spec that lie in the range; null: it does not list them.
    allowed_workers: list[int] | None
    requested_workers: int | None  # That of the job's spec, kept in the range; null: it has none.
    lost_seconds: float  # It would have trained longer by so much.
    lost_share: float  # Of the time that it trained.
    saved_gpu_seconds: float
    saved_share: float  # Of the GPU time that it trained.


class Summary(TypedDict):
    """The jobs that ended in a stretch of time."""

    completed: int
    failed: int
    cancelled: int
    mean_completion_seconds: float | None
    p50_completion_seconds: float | None
    p99_completion_seconds: float | None
    gpu_seconds: float  # Held in that time by all jobs.
    utilisation: float  # Share of all GPUs in use, 0 to 1.
    rescales: int
    longest_stall_seconds: float
    running: int  # Jobs, now.
    waiting: int  # Jobs, now.
    predictions: Calibration
    previous: Period  # The stretch of the same length before.


class Sweep(TypedDict):
    """A sweep, and how its trials stand."""

    id: str  # Of its array of jobs, too.
    name: str
    team: str
    parameters: list[str]
    metric: str
    goal: MetricGoal
    trials: int  # How many there are to be.
    made: int  # How many were submitted.
    max_running: int
    resource: SweepResource  # In what `rungs` are measured; without early stopping, of charts.
    rungs: list[float]  # How much training each rung is; empty: no trial is stopped early.
    reduction: int | None  # One in so many goes on from a rung; null: no trial is stopped early.
    most: float | None  # How much training a whole trial is, as its `max` says; null: not known.
    states: dict[str, int]  # How many of its trials are in each state; deleted ones are in none.
    submitted_by: str
    submitted_at: str
    ended_at: str | None  # Null: it goes on.
    message: str  # Why its next trials are not submitted; mostly empty.
    may_change: bool  # True if the caller may cancel it.


class SweepCurve(TypedDict):
    """The metric of one trial over its training, thinned, oldest first."""

    job_id: str
    resources: list[float]
    values: list[float]


class SweepCurves(TypedDict):
    """A document of the API: SweepCurves."""

    items: list[SweepCurve]


class SweepMark(TypedDict):
    """A rung to which a trial came."""

    rung: int  # From 0.
    resource: float  # How far it was when the value was logged.
    value: float | None  # Null: it was no number.
    promoted_at: str | None  # Null: it was not.


class SweepMetric(TypedDict):
    """Which of the metrics that the script logs tells how good a trial is."""

    name: str
    goal: NotRequired[MetricGoal]


class SweepPage(TypedDict):
    """A document of the API: SweepPage."""

    items: list[Sweep]
    next_cursor: str | None


class SweepTerms(TypedDict):
    """The field `sweep`."""

    parameters: dict[str, ParameterDraw | str | list[float | str | bool]]
    trials: NotRequired[int | None]
    seed: NotRequired[int]
    metric: SweepMetric
    max_running: NotRequired[int]
    asha: NotRequired[Asha | None]


class SweepTrial(TypedDict):
    """One trial of a sweep: a job, and how it did."""

    id: str  # Of the job.
    name: str
    number: int  # From 1.
    values: dict[str, Any]  # By parameter.
    state: JobState
    reason: JobReason
    message: str
    resource: float  # How far it is.
    value: float | None  # The newest of the metric; null: none was logged yet, or it is no number.
    rung: int | None  # The highest to which it came, from 0; null: none.
    marks: list[SweepMark]
    gpu_seconds: float
    is_best: bool  # The best so far: of those that have come furthest, the best value.


class Team(TypedDict):
    """A team's standing; GPUs unless it says jobs, summed over pools unless one was asked for."""

    name: str
    parent: str | None
    guaranteed: int
    limit: int | None  # null: no limit but the pool.
    fair_share: float  # Of what is there now, for what it wants now.
    allocated: int
    borrowed: int  # Held beyond its guarantee.
    lent: int  # Of its guarantee, held by others.
    waiting: int  # What its waiting jobs ask for at least.
    running_jobs: int
    waiting_jobs: int
    is_mine: bool  # True if the caller has a role in it, and so sees its jobs.


class TeamChange(TypedDict):
    """What may be changed of a team."""

    name: NotRequired[str]  # Another name. GPU time of before stays under the former one.
    # Most jobs that may wait, queued or paused; the next one is refused.
    max_queued_jobs: NotRequired[int]
    # Most that its jobs keep on disk, in GiB. Empty: the installation's number.
    most_disk_gib: NotRequired[int | None]
    network: NotRequired[JobNetwork]  # What its jobs may ask for, as `network` in their specs.
    # Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.
    reachable: NotRequired[list[str]]
    # True: each of its members may change, cancel and delete all of the team's jobs, not only those
    # that they submitted themselves.
    members_change_all_jobs: NotRequired[bool]
    parent: NotRequired[str | None]  # The team above it; null: none.
    # That it and the teams below it may use in a month of UTC. null: no limit.
    gpu_hours_per_month: NotRequired[float | None]
    # Most GPUs that the team's jobs of one person, or one token, hold at once, in all pools
    # together; in each team below as well. null: no limit.
    max_gpus_per_user: NotRequired[int | None]
    # Most jobs of the team that wait of those that one person, or one token, has submitted. null:
    # no limit.
    max_queued_jobs_per_user: NotRequired[int | None]
    # Most jobs of it and the teams below it that hold GPUs at once; further ones wait. null: no
    # limit.
    max_running_jobs: NotRequired[int | None]
    # Most of these that one person, or one token, has submitted. null: no limit.
    max_running_jobs_per_user: NotRequired[int | None]
    when_used_up: NotRequired[WhenUsedUp]  # What becomes of its jobs when these are used up.


class TeamGuarantee(TypedDict):
    """A document of the API: TeamGuarantee."""

    team: str
    guaranteed: int


class TeamImages(TypedDict):
    """A document of the API: TeamImages."""

    runs_images: bool  # false: workers are mere processes.
    platform_image: str  # Always allowed; what jobs run by default. Empty where no images run.
    patterns: list[str]  # What rules allow; * is any characters.


class TeamLimitsSetup(TypedDict):
    """Limits of a team as a whole; null: no limit."""

    # Most jobs of it and the teams below it that hold GPUs at once; further ones wait. null: no
    # limit.
    max_running_jobs: NotRequired[int | None]
    # Most of these that one person, or one token, has submitted. null: no limit.
    max_running_jobs_per_user: NotRequired[int | None]
    # Most jobs of the team that wait of those that one person, or one token, has submitted. null:
    # no limit.
    max_queued_jobs_per_user: NotRequired[int | None]
    # Most GPUs that the team's jobs of one person, or one token, hold at once, in all pools
    # together; in each team below as well. null: no limit.
    max_gpus_per_user: NotRequired[int | None]
    # That it and the teams below it may use in a month of UTC. null: no limit.
    gpu_hours_per_month: NotRequired[float | None]
    when_used_up: NotRequired[WhenUsedUp]  # What becomes of its jobs when these are used up.


class TeamList(TypedDict):
    """A document of the API: TeamList."""

    items: list[Team]


class TeamMonthBefore(TypedDict):
    """A document of the API: TeamMonthBefore."""

    month: str  # As 2026-11.
    total: BalancedCosts
    jobs: EndedJobs


class TeamOutcome(TypedDict):
    """How a team's own jobs fared in a pool. null: no job gives the figure."""

    guaranteed_gpus: int  # For the team and all below it.
    jobs: int
    finished: int
    wait_seconds: float | None  # Mean time from the submission to the first start.
    completion_seconds: float | None  # Mean of finished jobs, waiting included.
    gpu_hours: float
    borrowed_gpu_hours: float  # Held beyond the guarantee.
    lent_gpu_hours: float  # Of the guarantee, held by others.
    paused_jobs: int  # Jobs that were paused at least once.


class TeamRetention(TypedDict):
    """A document of the API: TeamRetention."""

    may_choose: bool  # True if the caller may set `days`.
    may_set_bounds: bool
    items: list[KeptPart]


class TeamRow(TypedDict):
    """GPU-hours, what they cost, and what of it is to be paid."""

    guaranteed_gpu_hours: float  # Held, of the team's guarantee.
    borrowed_gpu_hours: float  # Held beyond the team's guarantee.
    lent_gpu_hours: float  # Of the guarantee, what others borrowed.
    reserved_gpu_hours: float  # Of it, idle and never lent.
    idle_gpu_hours: float  # Of it, idle; without a team: of the rest.
    training_gpu_hours: float  # Held, and used to train.
    stalled_gpu_hours: float  # Held while nobody trained.
    starting_gpu_hours: float  # Held by workers that started.
    lost_work_gpu_hours: float  # Training that had to be done again, perhaps of hours before.
    cost: float | None  # Of what was held; null: a part of it has no price.
    credit: float | None  # For what was lent, likewise.
    balance: float | None  # The cost without the credit: what is to be paid, if above 0.
    team: str | None  # null: promised to nobody.
    jobs: EndedJobs


class TeamRules(TypedDict):
    """The rules of a team, and all others that count for its jobs."""

    team: str
    version: str  # Another one whenever something of them is.
    is_locked: bool  # True: leads of the team itself change nothing of them.
    may_change: bool  # True if the caller may change them.
    may_lock: bool  # True if the caller may lock and unlock them.
    rules: RuleSet
    above: list[RulesAbove]  # The nearest first; only those that say any.
    defaults: dict[str, Any]  # What a job gets, of all these together.


class TeamRulesSetup(TypedDict):
    """What a team says of the specs of its jobs, as at `change_team_rules`."""

    defaults: NotRequired[dict[str, Any]]
    bounds: NotRequired[dict[str, dict[str, Any]]]
    labels: NotRequired[dict[str, dict[str, Any]]]
    pools: NotRequired[list[str] | None]  # Null: all.
    modes: NotRequired[list[str] | None]  # Null: all.
    is_locked: NotRequired[bool]


class TeamSetup(TypedDict):
    """A team, with what it may use. Its people, tokens and secrets are not part of the set-up."""

    parent: NotRequired[str | None]  # The team above it; null: none.
    # Most jobs that may wait, queued or paused; the next one is refused.
    max_queued_jobs: NotRequired[int]
    # Most that its jobs keep on disk, in GiB. Empty: the installation's number.
    most_disk_gib: NotRequired[int | None]
    network: NotRequired[JobNetwork]  # What its jobs may ask for, as `network` in their specs.
    # Hosts with ports that jobs reach with `network: listed`, as `pypi.org:443`.
    reachable: NotRequired[list[str]]
    # True: each of its members may change, cancel and delete all of the team's jobs, not only those
    # that they submitted themselves.
    members_change_all_jobs: NotRequired[bool]
    limits: NotRequired[TeamLimitsSetup]
    rules: NotRequired[TeamRulesSetup]
    quotas: NotRequired[dict[str, QuotaSetup]]  # By the name of the pool.
    # Patterns of images that its jobs may run; * stands for any characters.
    images: NotRequired[list[str]]
    templates: NotRequired[dict[str, TemplateSetup]]


class TeamShare(TypedDict):
    """A document of the API: TeamShare."""

    team: str
    held_gpus: int  # Before the plan.
    planned_gpus: int  # After it.
    guaranteed_gpus: int
    limit_gpus: int | None
    entitled_gpus: int  # What its jobs have a claim to now: of its guarantee, or of its fair share.


class TeamStorage(TypedDict):
    """Outputs, checkpoints and all else that jobs keep in their folders; logs have bounds apart."""

    used_bytes: int  # By all its jobs, as summed last.
    most_bytes: int  # Above it, jobs that write more are ended, others wait, new ones are refused.
    is_full: bool
    message: str  # What to do. Empty: there is room.
    jobs: list[StoringJob]  # Those that keep most, the largest first.


class Template(TypedDict):
    """A part of a job spec with a name."""

    team: str  # That has it: this one, or one above it.
    name: str
    description: str
    spec: dict[str, Any]
    version: int  # Counts up with each change; a job tells with which one it began.
    may_change: bool  # True if the caller may change and delete it.
    created_at: str
    changed_at: str
    changed_by: str


class TemplateBody(TypedDict):
    """A template as it is to be."""

    name: str
    description: NotRequired[str]
    # What a job gets where its own spec says nothing; no name, team or array. At most 16384
    # characters.
    spec: dict[str, Any]


class TemplateList(TypedDict):
    """A document of the API: TemplateList."""

    may_add: bool  # True if the caller may add one to this team.
    items: list[Template]


class TemplateSetup(TypedDict):
    """A part of a job spec with a name."""

    description: NotRequired[str]
    spec: NotRequired[dict[str, Any]]  # Needed for a new template.


class Tick(TypedDict):
    """A document of the API: Tick."""

    id: int
    at: str
    observe_seconds: float
    plan_seconds: float
    apply_seconds: float
    alarm: str  # What was wrong with a plan; empty: nothing.
    pools: list[TickPool]
    changes_count: int  # Of all jobs.
    changes: list[TickChange]  # At most 100 in a list.
    teams: list[TickTeam]  # GPUs of all jobs; empty for ticks of a former release.


class TickChange(TypedDict):
    """What is untold of a job is empty or null: it is another team's."""

    team: str  # `other teams`: those of which you see no numbers.
    job_id: str | None
    job_name: str | None
    pool: str | None  # null: the job was deleted.
    gpus_before: int
    gpus_after: int
    action: Action | BlankChoice
    reason: JobReason | BlankChoice
    # Why, in words, for admins: they name jobs of all teams. A team reads its own words with its
    # job.
    message: str
    gain: float | None  # 0.31: 31 % faster, as it was predicted.
    stall_seconds: float | None  # What it was to cost.


class TickDetail(TypedDict):
    """A document of the API: TickDetail."""

    id: int
    at: str
    observe_seconds: float
    plan_seconds: float
    apply_seconds: float
    alarm: str  # What was wrong with a plan; empty: nothing.
    pools: list[TickPool]
    changes_count: int  # Of all jobs.
    changes: list[TickChange]  # At most 100 in a list.
    teams: list[TickTeam]  # GPUs of all jobs; empty for ticks of a former release.
    jobs: list[TickShare]  # All that held GPUs or got some; empty for ticks of a former release.


class TickPage(TypedDict):
    """A document of the API: TickPage."""

    items: list[Tick]
    next_cursor: str | None


class TickPool(TypedDict):
    """A document of the API: TickPool."""

    pool: str
    policy: str
    price: float | None  # What one more GPU would have added, in the policy's own unit.
    gap: float | None  # 0: the plan was optimal.
    value: float | None
    upper_bound: float | None
    gpus_total: int
    gpus_used: int  # By the plan.


class TickShare(TypedDict):
    """What is untold of a job is empty or null: it is another team's."""

    team: str  # `other teams`: those of which you see no numbers.
    job_id: str | None
    job_name: str | None
    pool: str | None  # null: the job was deleted.
    gpus_before: int
    gpus_after: int


class TickTeam(TypedDict):
    """A document of the API: TickTeam."""

    team: str
    gpus_before: int
    gpus_after: int


class Token(TypedDict):
    """A token of a team, without its key."""

    id: int
    name: str
    prefix: str  # The first characters, to recognise it by.
    state: TokenState  # What it is now.
    # null: it may do all that tokens may.
    scopes: list[Literal["read", "submit", "manage-jobs", "manage-team", "admin"]] | None
    pools: list[str] | None  # The only pools whose jobs it reaches. null: any.
    labels: dict[str, str] | None  # What all jobs that it reaches have. null: any.
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None  # To the minute; null: never.
    last_used_from: str  # The address that was seen then, of IPv6 its network. Empty: none yet.
    created_by: str  # Empty: from before that was noted.


class TokenBody(TypedDict):
    """What limits a token to some jobs, whatever its scopes let it do with these."""

    # Until it expires; without it 90, or as many as are allowed. null: never, for admins alone.
    days: NotRequired[int | None]
    # It reaches jobs in these pools alone, and submits to no others. null, or empty: any. At most
    # 20.
    pools: NotRequired[list[str] | None]
    # It reaches jobs alone that have all of these labels. What it submits gets them. null, or
    # empty: any. At most 10.
    labels: NotRequired[dict[str, str] | None]
    name: str  # What it is for; jobs that come with it are submitted by `TEAM/NAME`.
    # What it may do. null, or nothing: all that tokens may. `admin` is for personal tokens.
    scopes: NotRequired[
        list[Literal["read", "submit", "manage-jobs", "manage-team", "admin"]] | None
    ]


class TokenList(TypedDict):
    """A document of the API: TokenList."""

    longest_days: int  # How long tokens that leads make may last; admins may make others.
    items: list[Token]


class TraceSource(TypedDict):
    """Where the workload comes from. Fields of other kinds are ignored."""

    kind: TraceSourceKind
    pattern: NotRequired[ArrivalPattern]  # generated: how jobs come.
    mix: NotRequired[JobMix]  # generated: which jobs.
    jobs: NotRequired[int]
    load: NotRequired[float]  # generated: 1.0 fills every GPU.
    format: NotRequired[TraceFormat]  # uploaded: see docs/planning/traces.md.
    text: NotRequired[str]  # uploaded: the recording.
    days: NotRequired[float]  # history: the last days.


class TriedSize(TypedDict):
    """A number of workers that the job had, or that lies between two that were measured."""

    workers: int
    gpus: int
    seconds: float  # For which it trained so, without standing still.
    gpu_seconds: float
    samples_per_second: float | None  # As measured.
    # As the model says that was fitted to all measurements.
    predicted_samples_per_second: float | None
    relative_error: float | None  # One standard deviation of the prediction.
    efficiency: float | None  # Samples per second and GPU, beside those of the smallest size.
    # What a GPU more than at the next smaller size brought, beside one of the first.
    gain_of_last_gpu: float | None


class Upload(TypedDict):
    """How far an upload is."""

    is_complete: bool  # True: jobs can be submitted with it.
    received: int  # Bytes of it that are here already.
    largest_piece: int  # Bytes of one request, at most.
    most_bytes: int  # Of all files together.
    most_files: int


class Usage(TypedDict):
    """A document of the API: Usage."""

    idle_since: str | None  # All its workers have done nothing since then; null: they do.
    items: list[UsagePoint]


class UsagePoint(TypedDict):
    """One stretch of time. Null: nobody could tell."""

    at: str  # When the stretch begins.
    workers: int  # That were read in it.
    cpu_cores: float | None  # Busy, of all workers.
    memory_bytes: int | None  # Of all workers.
    gpu_utilisation: float | None  # 0 to 1: mean of its GPUs.
    gpu_memory_bytes: int | None  # On all its GPUs.
    gpu_power_watts: float | None  # Of all its GPUs.


class UsedTemplate(TypedDict):
    """The template with which a job began; it may be another by now, or gone."""

    team: str
    name: str
    version: int


class User(TypedDict):
    """A document of the API: User."""

    username: str
    is_admin: bool
    teams: list[str]
    submits_for: list[str]  # Teams for which they may submit jobs.


class UserCodeBody(TypedDict):
    """A document of the API: UserCodeBody."""

    user_code: str


class UserShare(TypedDict):
    """What the jobs hold together that its user has in its team; null: these have no limit."""

    limit_gpus: int  # In all pools: `max_gpus_per_user`.
    held_gpus: int  # In this pool, before the plan.
    planned_gpus: int  # In this pool, after it.
    elsewhere_gpus: int  # In other pools.


class UsingJob(TypedDict):
    """A document of the API: UsingJob."""

    id: str
    name: str


class Utilisation(TypedDict):
    """A document of the API: Utilisation."""

    pool: str
    gpus_total: int
    teams: list[TeamGuarantee]
    samples: list[Sample]  # Oldest first, at most 600.


class UtilityPoint(TypedDict):
    """What it is worth, in dollars, to have the job done so long after its submission."""

    after: str
    dollars: float


class Validation(TypedDict):
    """A document of the API: Validation."""

    resolved_spec: dict[str, Any] | None  # null if there are problems.
    problems: list[Problem]
    notes: list[str]
    trials: int  # How many jobs its `array` or `sweep` makes; 0: neither, or there are problems.
    outlook: Outlook | None  # Null: nobody asked, or the spec has problems.


class WaitingDetails(TypedDict):
    """A job that waits, and time may help."""

    kind: Literal["waiting"]
    needed_gpus: int  # For its smallest size.
    free_gpus: int
    available_gpus: int  # Free, or can be freed by shrinking others.
    pool_gpus: int
    team: TeamShare
    user: UserShare | None
    blocker: JobRef | None  # Whom it stands behind.
    reserved: Reserved | None  # For itself, or for the job it stands behind.
    holders: list[Holder]
    pools: NotRequired[list[PoolOffer]]  # Of a job that may be in several: best first.
    closed_nodes: list[ClosedNode]  # That take no new work: those with most GPUs.


class Webhook(TypedDict):
    """A webhook, without what may be secret of it."""

    id: int
    team: NotRequired[str | None]
    name: str
    url: str  # Without its path; a mail address whole.
    shape: WebhookShape
    kinds: list[str]
    states: list[str]
    is_on_request: bool  # It is told only of jobs that name it in their `notify`.
    is_enabled: bool
    failures: int  # Of the last calls, in a row.
    rests_until: str | None  # Until then nothing is sent there, because it failed.
    created_at: str
    created_by: str


class WebhookBody(TypedDict):
    """A document of the API: WebhookBody."""

    # Of events. None: all, also what is of no job: months, schedules.
    kinds: NotRequired[list[WebhookEventKind]]
    # Of changes of state only those to one of these. None: all.
    states: NotRequired[list[JobState]]
    # true: it is told only of jobs that name it in their `notify`.
    is_on_request: NotRequired[bool]
    is_enabled: NotRequired[bool]  # false: nothing is sent, nor kept to be sent later.
    team: str | None  # Told are its jobs, and those of teams below. null: all, for admins.
    name: str
    # Where to send to. Only its host is shown later, for the rest may be a secret; a mail address,
    # as `mailto:team@example.com`, is shown whole.
    url: str
    shape: NotRequired[WebhookShape]


class WebhookList(TypedDict):
    """A document of the API: WebhookList."""

    items: list[Webhook]


class WholeMonthReport(TypedDict):
    """What all teams used, lent and are charged for in a month."""

    month: str  # As 2026-11, of UTC.
    since: str  # From when on there are accounts of it.
    until: str  # Up to the last hour that is closed.
    is_over: bool  # All its hours are closed: it changes no more.
    # For which nobody looked: what changed then was written down at the end of it.
    unseen_seconds: float
    # What the teams' rows add up to; as balance, what stays with the installation.
    total: BalancedCosts
    before: MonthBefore  # The month before, to compare with.
    teams: list[TeamRow]
    by_pool: list[PoolReport]


class WholeSetup(TypedDict):
    """The set-up, and its version: another one whenever something is different."""

    version: str
    setup: Setup


class Worker(TypedDict):
    """A document of the API: Worker."""

    id: str
    phase: WorkerPhase
    node: str
    gpu_indices: list[int]
    attempt: int
    created_at: str
    gone_at: str | None
    exit_code: int | None
    error: str
    compute_seconds: float | None  # Of its share of a step; waiting for others left out.
    samples_per_second: float | None  # Of its own share, while it computes.
    relative_speed: float | None  # 0.6: 40 % slower than the median of the job's workers.
    is_straggler: bool  # Slow for long enough to replace.
    gpu_utilisation: float | None  # 0 to 1.
    gpu_memory_bytes: int | None  # In use.
    gpu_memory_total_bytes: int | None


class WorkerList(TypedDict):
    """A document of the API: WorkerList."""

    items: list[Worker]


class FoundRemedy(Remedy):
    """A remedy that planning the changed cluster has shown to start the job."""

    message: str
    found_at: str
    # What to send to change_job, to make it so; null: it is no change of the job.
    changes: dict[str, Any] | None


class JobDetail(Job):
    """A job with its spec, as sent, and as it counts now with every default filled in."""

    spec: dict[str, Any]
    resolved_spec: dict[str, Any]
    template: UsedTemplate | None  # Null: its spec began with none.
    version: int  # Of its spec: counts up with each change.
    # Null: the batch never exceeds its base, or no gradient noise was measured.
    batch_worth: BatchWorth | None
    warnings: list[str]  # What in its script is to be looked at, in sentences, oldest first.
    held_seconds: float  # Time so far in which it held any GPU.
    disk_bytes: int | None  # That its files take, as found last; null: not known.
    disk_files: int | None  # And folders that it has; null: not known.
    is_pinned: bool  # Nothing of it is removed for its age.
    may_change: bool  # True if the caller may change, steer, pin and delete it.
    may_rerun: bool  # True if the caller may submit it once more.
    curves_removed_at: str | None
    history_removed_at: str | None
    logs_removed_at: str | None
    files_removed_at: str | None


class MadePersonalToken(PersonalToken):
    """A token of a person, without its key."""

    key: str  # Shown this once: nobody can read it again.


class MadeToken(Token):
    """A token of a team, without its key."""

    key: str  # Shown this once: nobody can read it again.


class MadeWebhook(Webhook):
    """A webhook, without what may be secret of it."""

    # With which messages are signed, but mails are not. Shown this once: nobody can read it again.
    key: str


class ModelVersionDetail(ModelVersion):
    """A version, and all that is known of how it came to be."""

    code: str  # Digest of its job's code; empty: it had none.
    sources: list[ModelData]  # Of data that its job used.
    spec: dict[str, Any]  # Of its job, with every default filled in.


class ScheduleDetail(Schedule):
    """A schedule with its spec and its last runs."""

    spec: dict[str, Any]
    runs: list[ScheduleRun]  # The last ones, the newest first.
    notes: list[str]  # What to know when it was just added, changed or resumed.


class SteeredArray(JobArray):
    """An array whose jobs were told something."""

    jobs: list[str]  # The ids of those to which it made a difference.


class SweepDetail(Sweep):
    """A sweep with its trials."""

    items: list[SweepTrial]  # Those that were submitted, by number.
    best: str | None  # The job of the best trial so far; null: no values yet.
    spec: dict[str, Any]  # Of each trial, with places.
    terms: dict[str, Any]  # The field `sweep`, as sent.
    notes: list[str]  # What to know when it was just submitted.


class TeamDetail(Team):
    """A team's standing, with what it may use."""

    max_running_jobs: int | None  # That hold GPUs at once, with those of the teams below it.
    max_running_jobs_per_user: int | None
    max_queued_jobs_per_user: int | None
    max_gpus_per_user: int | None  # At once, in all pools together.
    gpu_hours_per_month: float | None
    when_used_up: WhenUsedUp
    max_queued_jobs: int  # Most jobs that may wait, queued or paused.
    network: JobNetwork  # What its jobs may ask for.
    reachable: list[str]  # Hosts with ports, for `listed`.
    # False: a member changes the jobs that they submitted, and leads change all.
    members_change_all_jobs: bool
    budgets: list[Budget]  # Its own, if it has one, then those of teams above, which cover it.
    may_change_limits: list[str]  # Which of its limits the caller may change.
    quotas: list[Quota]
    tokens: list[Token] | None  # null: only its leads and admins may see them.


class SubmittedJob(JobDetail):
    """A job that was just submitted, and what its user should know although nothing is wrong."""

    notes: list[str]


Bulk = dict[str, Any]


Details = (
    RunningDetails
    | StartedDetails
    | RescaledDetails
    | PausedDetails
    | WaitingDetails
    | RefusedDetails
    | DroppedDetails
)
