"""What can happen to a job, and why? Every kind of event and every reason, with its sentence.

Codes are for programs and never change their meaning. Sentences are for people: up to its colon,
each is what a screen shows. The API's documentation and `docs/jobs/events.md` are made of them.
"""

from __future__ import annotations

from typing import Final, NewType

from autoscaler.coded_words import CodedWord

StoredReason = NewType("StoredReason", str)
"""The code of a row, which may be one of another release: it is handed on as it is."""


class JobReason(CodedWord):
    """Why a job is in its state, or why something happened to it: one code for each cause."""

    # It waits: the planner has looked at it.
    WAITING_FOR_QUOTA = (
        "waiting_for_quota",
        "Team limit reached: with this job, its team would hold more GPUs than it may.",
    )
    WAITING_FOR_USER_LIMIT = (
        "waiting_for_user_limit",
        "User's limit reached: with this job, who submitted it would hold more GPUs than one may.",
    )
    WAITING_FOR_FAIR_SHARE = (
        "waiting_for_fair_share",
        "Waits for its fair share: GPUs are free or could be, but other teams come first.",
    )
    WAITING_FOR_RECLAIM = (
        "waiting_for_reclaim",
        "Lent GPUs are coming back: those that borrow them have been asked to give way.",
    )
    WAITING_FOR_CAPACITY = (
        "waiting_for_capacity",
        "Waits for free GPUs: its pool has fewer to give than its smallest size needs.",
    )
    BEHIND_HIGHER_PRIORITY = (
        "behind_higher_priority",
        "Behind a higher priority: a job that comes first is owed the GPUs, or took them.",
    )
    FRAGMENTED = (
        "fragmented",
        "Free GPUs are scattered: there are enough, but no node has enough of them together.",
    )
    EXCEEDS_LIMIT = (
        "exceeds_limit",
        "Larger than its limit: it needs more than its pool has or its team may hold.",
    )
    PREPARING = (
        "preparing",
        "Its data is on the way: it is being fetched, and the job takes no GPUs until it is there.",
    )
    WAITING_FOR_JOBS = (
        "waiting_for_jobs",
        "Waits for other jobs: those in its `depends_on` have to end first.",
    )
    DROPPED = (
        "dropped",
        "Did not fit: its pool has no queue, and refuses what does not fit on arrival.",
    )

    # It starts, changes or pauses: the planner has decided so.
    JOB_ARRIVED = ("job_arrived", "A job arrived: it starts, or others give way so that it can.")
    JOB_FINISHED = ("job_finished", "A job finished: the GPUs that it freed are used again.")
    RECLAIM_GUARANTEE = (
        "reclaim_guarantee",
        "Guarantee reclaimed: a team takes back what it is guaranteed and others had borrowed.",
    )
    FAIR_SHARE = (
        "fair_share",
        "Fair share moved: GPUs go to the jobs that are entitled to them, or use them better.",
    )
    RESERVATION = (
        "reservation",
        "Reserved for a large job: it starts on GPUs kept for it, and guests give them back.",
    )
    BATCH_RETUNE = (
        "batch_retune",
        "Batch retuned: another global batch learns faster on the same workers.",
    )
    APPLICATION_METRIC = (
        "application_metric",
        "Scales on its own metric: what its script reports asks for more or fewer workers.",
    )
    TERMS_CHANGED = (
        "terms_changed",
        "Terms changed: somebody changed which workers or batches the job may have.",
    )
    SCALING_INEFFICIENT = (
        "scaling_inefficient",
        "Scaled too poorly: with fewer workers it is hardly slower, so it gives GPUs back.",
    )
    SCALING_EFFICIENT = (
        "scaling_efficient",
        "Scales well: GPUs are free, and more workers are tried because they should pay.",
    )
    NODE_LOST = (
        "node_lost",
        "Worker or node lost: a process ended from outside, or its node does not answer.",
    )
    NODE_JOINED = ("node_joined", "Node joined: its pool has more GPUs than before.")
    NODE_DRAINED = ("node_drained", "Node is being drained: what runs on it has to leave.")
    STRAGGLER = (
        "straggler",
        "Slower than the others: one of its workers holds up the rest, and may be replaced.",
    )
    DEFRAGMENT = (
        "defragment",
        "Moved together: it is faster on other nodes, or makes room for a job that waits.",
    )

    # It stays as it is.
    BEST_ALLOCATION = (
        "best_allocation",
        "Best allocation: no other division of the pool is worth more.",
    )
    COOLDOWN = ("cooldown", "Changed a moment ago: its `min_interval` is not over yet.")
    NOT_RESCALABLE = (
        "not_rescalable",
        "Cannot change now: it is starting or changing, or keeps its number of workers.",
    )

    # Somebody wanted it so.
    PENDING_EVALUATION = (
        "pending_evaluation",
        "Not evaluated yet: it was submitted or resumed, and waits for the next plan.",
    )
    PAUSED_BY_USER = ("paused_by_user", "Paused by a person: it goes on when somebody resumes it.")
    CANCELLED_BY_USER = ("cancelled_by_user", "Cancelled by a person: it does not continue.")

    # Its sweep wanted it so.
    PAUSED_AT_RUNG = ("paused_at_rung", "Waits at a rung: its sweep lets only the best go on.")
    STOPPED_BY_SWEEP = ("stopped_by_sweep", "Stopped by its sweep: other trials were better.")

    # It came to its end.
    COMPLETED = ("completed", "Ran to its end: its command ended with exit code 0.")
    ENDED_EARLY = (
        "ended_early",
        "Ended before its epochs: its script ended without an error, but too early.",
    )
    SCRIPT_DID_NOT_END = (
        "script_did_not_end",
        "Trained, but its script hung: its epochs were over, so the platform ended it.",
    )

    # Its own code or what it asks for is at fault.
    JOB_FAILED = ("job_failed", "Its own code failed: it is not started again.")
    WORKER_FAILED = (
        "worker_failed",
        "A worker's code failed: it ended with an error of its own; its last lines tell which.",
    )
    RESTARTING = ("restarting", "Starts again: its own code failed, and its next attempt is due.")
    COMMAND_NOT_FOUND = (
        "command_not_found",
        "Command not found: `command` does not exist, or cannot be executed.",
    )
    NOT_REGISTERED = (
        "not_registered",
        "Script did not register: its spec says `mode: hot`, but it did not call the library.",
    )
    NO_PROGRESS = (
        "no_progress",
        "Stood still: it made no step and wrote no line for too long.",
    )
    OUT_OF_MEMORY = (
        "out_of_memory",
        "Ran out of memory: the machine's or a GPU's; its message tells which.",
    )
    OUT_OF_DISK = (
        "out_of_disk",
        "Wrote more than it may: its files took more than `resources.disk_per_job`.",
    )
    TEAM_DISK_FULL = (
        "team_disk_full",
        "Its team's disk is full: the team's jobs keep more files than they may, ended ones too.",
    )
    TEAM_JOB_LIMIT = (
        "team_job_limit",
        "As many jobs run as may: of its team, of one above, or of whoever submitted it.",
    )
    ARRAY_LIMIT = (
        "array_limit",
        "Its array is at its limit: as many of its jobs run as its `max_running` allows.",
    )
    TEAM_BUDGET_USED_UP = (
        "team_budget_used_up",
        "Its team's budget is used up: the GPU-hours of the month, of its team or of one above.",
    )
    TOO_MANY_FILES = (
        "too_many_files",
        "Wrote too many files: it has more files and folders than a job may have.",
    )
    FOLDER_CLOSED = (
        "folder_closed",
        "Hid what it writes: a folder is closed, or nested too deep to be measured.",
    )
    MAX_DURATION_OVER = (
        "max_duration_over",
        "Ran for as long as it may: it held GPUs for its `max_duration`.",
    )
    BUDGET_USED_UP = (
        "budget_used_up",
        "Used up its budget: it held GPUs for its `budget_gpu_hours`.",
    )
    SECRET_UNAVAILABLE = (
        "secret_unavailable",
        "A secret is missing: one that it names was deleted, or cannot be decrypted.",
    )
    DATA_UNAVAILABLE = (
        "data_unavailable",
        "Data is missing: a source that it names is gone, or is not where it was.",
    )
    CODE_UNAVAILABLE = (
        "code_unavailable",
        "Code is missing: the repository that it names has no such code, or cannot be read.",
    )
    START_UNAVAILABLE = (
        "start_unavailable",
        "Start is missing: the checkpoint from which it was to start was removed before.",
    )
    DEPENDENCY_UNMET = (
        "dependency_unmet",
        "Waited in vain: a job in its `depends_on` has ended in another way than it has to.",
    )
    SCRIPT_WARNING = (
        "script_warning",
        "Check the script: it runs, but something in it is probably a mistake.",
    )
    IDLE = ("idle", "Idle: its workers hold GPUs, and have done nothing for a while.")
    DEADLINE = ("deadline", "Deadline at risk: it is expected to end too late.")

    # What should run it is at fault.
    IMAGE_UNAVAILABLE = (
        "image_unavailable",
        "Image unavailable: it cannot be fetched, or its team may not use it.",
    )
    CANNOT_START = ("cannot_start", "Node cannot start it: the message holds the node's words.")
    LAUNCH_REFUSED = (
        "launch_refused",
        "Launch refused: the worker host does not accept this job.",
    )
    PORT_IN_USE = ("port_in_use", "Port in use: its coordinator could not listen; it starts again.")
    COORDINATOR_SILENT = (
        "coordinator_silent",
        "Coordinator was silent: it could not reach the service, and the job starts again.",
    )
    STUCK = (
        "stuck",
        "Stuck in a change: all its workers were there, but nothing moved.",
    )
    WORKERS_LOST = (
        "workers_lost",
        "Workers lost too often: all at once, several times, without progress in between.",
    )
    PLANNING_FAILED = (
        "planning_failed",
        "Left out of plans: the planner fails on its data; it is tried again.",
    )
    PLANNED_AGAIN = (
        "planned_again",
        "Planned again: the planner can use its data again.",
    )

    # How it is rescaled, once that is known.
    HOT = ("hot", "Rescales without a restart: its script registered with the library.")
    RESTART = ("restart", "Rescales by a restart: its script resumes from its own checkpoint.")
    FIXED = ("fixed", "Keeps its size: its spec says `mode: fixed`.")


WAITING_OUTSIDE: Final = frozenset(
    {
        JobReason.PREPARING,
        JobReason.TEAM_DISK_FULL,
        JobReason.WAITING_FOR_JOBS,
        JobReason.TEAM_JOB_LIMIT,
        JobReason.ARRAY_LIMIT,
        JobReason.TEAM_BUDGET_USED_UP,
    }
)
"""Of jobs that wait for something else than GPUs: no plan says when they start."""


class EventKind(CodedWord):
    """What happened to a job: one code for each kind of event."""

    # Its life.
    SUBMITTED = ("submitted", "Submitted: the job was accepted and queued.")
    STATE_CHANGED = (
        "state_changed",
        "State changed: `old_state` and `new_state` tell from what to what.",
    )
    STOP_REQUESTED = (
        "stop_requested",
        "Stop requested: while it was stopping, somebody changed what happens to it next.",
    )
    TERMS_CHANGED = (
        "terms_changed",
        "Terms changed: somebody changed what it asks for while it lived.",
    )
    MODE_DETECTED = (
        "mode_detected",
        "Mode detected: it is known how its script can be rescaled.",
    )
    PREPARING = (
        "preparing",
        "Preparing: something must be made ready before it can run, such as an image.",
    )
    BATCH_LIMIT_FOUND = (
        "batch_limit_found",
        "Batch limit found: a worker ran out of GPU memory, and larger shares are split up.",
    )

    # One worker.
    WORKER_FAILED = ("worker_failed", "Worker failed: its own code went wrong.")
    WORKER_LOST = (
        "worker_lost",
        "Worker lost: one process ended from outside, or its node counts as lost.",
    )
    WORKER_NOT_STARTED = ("worker_not_started", "Worker not started: it will never run.")
    WORKER_HUNG = ("worker_hung", "Worker hung: it made no progress and is killed.")
    JOINER_DROPPED = (
        "joiner_dropped",
        "Joiner dropped: a worker was not ready in time, and the others go on without it.",
    )
    STRAGGLER_FOUND = (
        "straggler_found",
        "Straggler found: a worker is clearly slower than the others.",
    )

    # Several of them.
    WORKERS_LOST = (
        "workers_lost",
        "Went on without lost workers: the others formed a new group, without a restart.",
    )
    ALL_WORKERS_LOST = (
        "all_workers_lost",
        "All workers lost: none could go on, so the job starts again from its checkpoint.",
    )
    WORK_LOST = ("work_lost", "Work lost: steps newer than the checkpoint are made again.")

    # What it runs on.
    COORDINATOR_RESTARTED = (
        "coordinator_restarted",
        "Coordinator restarted: training went on meanwhile.",
    )
    NODE_SILENT = (
        "node_silent",
        "Node silent: a node with workers of the job does not answer; they may train on.",
    )
    NODE_IS_SLOW = (
        "node_is_slow",
        "Node is slow: several workers were slow there; somebody should look at it.",
    )

    # What somebody should look at.
    SCRIPT_WARNING = (
        "script_warning",
        "Script warning: it runs, but something in it is probably a mistake.",
    )
    NO_PROGRESS = (
        "no_progress",
        "No progress: half of the time has passed after which it is ended for that.",
    )
    IDLE = ("idle", "Idle: its workers hold GPUs, and have done nothing for a while.")
    BUSY_AGAIN = ("busy_again", "Busy again: its workers do something again.")
    DISK_FILLING = (
        "disk_filling",
        "Disk filling: its files take four fifths of its limit; above the limit it is ended.",
    )
    LIMIT_NEAR = (
        "limit_near",
        "Limit near: four fifths of its `max_duration` or `budget_gpu_hours` are used up.",
    )
    BUDGET_WARNING = (
        "budget_warning",
        "Team's budget near: four fifths of its GPU-hours of the month are used up.",
    )
    BUDGET_USED_UP = (
        "budget_used_up",
        "Team's budget used up: none of its GPU-hours of the month are left.",
    )
    DEADLINE_AT_RISK = (
        "deadline_at_risk",
        "Deadline at risk: for the first time it is expected to end too late.",
    )
    PLANNING_FAILED = (
        "planning_failed",
        "Left out of plans: the planner failed on its data.",
    )
    PLANNED_AGAIN = ("planned_again", "Planned again: the planner can use its data again.")
    CONTROL_LOOP_ERROR = (
        "control_loop_error",
        "Control loop error: the loop failed on this job and tries again; admins see the cause.",
    )
