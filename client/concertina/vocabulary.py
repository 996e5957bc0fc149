"""Which words do the service's documents use? Written by `make openapi` from docs/openapi.yaml.

A service of another release may use others; nothing here is checked at run time.
"""

from __future__ import annotations

from typing import Literal

Action = Literal["start", "keep", "rescale", "pause", "wait", "drop"]
ArrivalPattern = Literal["poisson", "bursty", "daily"]
AuditOutcome = Literal["done", "refused", "failed"]
AuditSenderKind = Literal["person", "token", "service", "unknown"]
BlankChoice = Literal[""]
CatchUp = Literal["none", "last"]
DataSourceKind = Literal["folder", "object_store", "output", "upload"]
DeliveryState = Literal["waiting", "delivered", "dead"]
DeviceLoginProgress = Literal["pending", "confirmed", "refused"]
EventKind = Literal[
    "submitted",
    "state_changed",
    "stop_requested",
    "terms_changed",
    "mode_detected",
    "preparing",
    "batch_limit_found",
    "worker_failed",
    "worker_lost",
    "worker_not_started",
    "worker_hung",
    "joiner_dropped",
    "straggler_found",
    "workers_lost",
    "all_workers_lost",
    "work_lost",
    "coordinator_restarted",
    "node_silent",
    "node_is_slow",
    "script_warning",
    "no_progress",
    "idle",
    "busy_again",
    "disk_filling",
    "limit_near",
    "budget_warning",
    "budget_used_up",
    "deadline_at_risk",
    "planning_failed",
    "planned_again",
    "control_loop_error",
]
Hindrance = Literal[
    "range",
    "unmeasured",
    "unmeasurable",
    "plain",
    "team_limit",
    "user_limit",
    "rival",
    "gain",
    "fragmented",
    "cooldown",
    "changing",
    "fixed",
]
JobMix = Literal["production", "applications", "kinds"]
JobMode = Literal["auto", "hot", "restart", "fixed"]
JobNetwork = Literal["isolated", "listed", "egress"]
JobReason = Literal[
    "waiting_for_quota",
    "waiting_for_user_limit",
    "waiting_for_fair_share",
    "waiting_for_reclaim",
    "waiting_for_capacity",
    "behind_higher_priority",
    "fragmented",
    "exceeds_limit",
    "preparing",
    "waiting_for_jobs",
    "dropped",
    "job_arrived",
    "job_finished",
    "reclaim_guarantee",
    "fair_share",
    "reservation",
    "batch_retune",
    "application_metric",
    "terms_changed",
    "scaling_inefficient",
    "scaling_efficient",
    "node_lost",
    "node_joined",
    "node_drained",
    "straggler",
    "defragment",
    "best_allocation",
    "cooldown",
    "not_rescalable",
    "pending_evaluation",
    "paused_by_user",
    "cancelled_by_user",
    "paused_at_rung",
    "stopped_by_sweep",
    "completed",
    "ended_early",
    "script_did_not_end",
    "job_failed",
    "worker_failed",
    "restarting",
    "command_not_found",
    "not_registered",
    "no_progress",
    "out_of_memory",
    "out_of_disk",
    "team_disk_full",
    "team_job_limit",
    "array_limit",
    "team_budget_used_up",
    "too_many_files",
    "folder_closed",
    "max_duration_over",
    "budget_used_up",
    "secret_unavailable",
    "data_unavailable",
    "code_unavailable",
    "start_unavailable",
    "dependency_unmet",
    "script_warning",
    "idle",
    "deadline",
    "image_unavailable",
    "cannot_start",
    "launch_refused",
    "port_in_use",
    "coordinator_silent",
    "stuck",
    "workers_lost",
    "planning_failed",
    "planned_again",
    "hot",
    "restart",
    "fixed",
]
JobState = Literal[
    "queued",
    "starting",
    "running",
    "rescaling",
    "paused",
    "stopping",
    "completed",
    "failed",
    "cancelled",
]
KeptPartName = Literal["curves", "logs", "checkpoints", "outputs", "code"]
LearningRateScaling = Literal["none", "linear", "sqrt", "adascale", "custom"]
LimitUnit = Literal["hours", "gpu_hours", "jobs", "gpus"]
LogStream = Literal["stdout", "stderr"]
MachineEventKind = Literal[
    "asked",
    "late",
    "brought",
    "arrived",
    "unusable",
    "withdrawn",
    "closed",
    "given_back",
    "taken_back",
]
MemberRole = Literal["viewer", "member", "lead"]
MetricGoal = Literal["min", "max"]
ModelState = Literal["storing", "stored", "lost"]
NodeClosing = Literal["cordoned", "draining", "silent"]
Occasion = Literal["started", "completed", "failed", "shrunk", "paused", "deadline_at_risk", "idle"]
Overlap = Literal["allow", "skip", "replace"]
PoolAdmission = Literal["queueing", "dropping"]
PoolAnswer = Literal["starts", "owed", "waits", "refused", "not_asked"]
Preemptibility = Literal["preemptible", "semi-preemptible", "non-preemptible"]
ProgressUnit = Literal["iteration", "epoch", "count"]
ReclaimTarget = Literal["guarantee", "fair_share"]
RemedyKind = Literal[
    "higher_priority",
    "free_gpus",
    "gpus_together",
    "fewer_workers",
    "raised_limit",
    "raised_user_limit",
    "raised_guarantee",
    "other_pool",
    "preemptible",
    "reopened_node",
    "patience",
    "none",
]
RemovedPart = Literal["curves", "logs", "checkpoints", "outputs", "code", "history", "job"]
RestartSign = Literal["line", "iteration"]
ScheduleRunState = Literal["waiting", "submitted", "skipped", "refused", "missed", "failed"]
SecretKind = Literal["environment", "registry"]
ServiceStatus = Literal["ok", "impaired", "unavailable"]
SetupAction = Literal["created", "changed", "removed"]
SetupKind = Literal["pool", "node", "prefetched image", "team", "quota", "image rule", "template"]
ShellSignal = Literal["INT", "TERM", "QUIT", "HUP"]
SimulatedAdmission = Literal["queueing", "dropping"]
SimulationState = Literal["queued", "running", "completed", "failed", "cancelled"]
SizeVerdict = Literal["unknown", "keep", "fewer"]
SweepResource = Literal["epochs", "steps", "samples"]
TeamPermission = Literal[
    "see",
    "submit",
    "change_own_jobs",
    "change_all_jobs",
    "enter_own_jobs",
    "enter_all_jobs",
    "name_models",
    "set_up",
    "manage_sources",
    "manage_members",
    "manage_tokens",
    "see_audit",
    "manage_webhooks",
    "divide_quotas",
    "simulate",
    "administer",
]
TokenScope = Literal["read", "submit", "manage-jobs", "manage-team", "admin"]
TokenState = Literal["valid", "expired", "revoked"]
TraceFormat = Literal["auto", "concertina", "philly", "pollux", "pai"]
TraceSourceKind = Literal["generated", "uploaded", "history"]
WaitCondition = Literal["ok", "any", "failed"]
WebhookEventKind = Literal[
    "submitted",
    "state_changed",
    "stop_requested",
    "terms_changed",
    "mode_detected",
    "preparing",
    "batch_limit_found",
    "worker_failed",
    "worker_lost",
    "worker_not_started",
    "worker_hung",
    "joiner_dropped",
    "straggler_found",
    "workers_lost",
    "all_workers_lost",
    "work_lost",
    "coordinator_restarted",
    "node_silent",
    "node_is_slow",
    "script_warning",
    "no_progress",
    "idle",
    "busy_again",
    "disk_filling",
    "limit_near",
    "budget_warning",
    "budget_used_up",
    "deadline_at_risk",
    "planning_failed",
    "planned_again",
    "control_loop_error",
    "month_closed",
    "schedule_refused",
    "schedule_paused",
]
WebhookShape = Literal["json", "slack", "mattermost", "mail"]
WhenUsedUp = Literal["no_new", "pause"]
WithoutRoom = Literal["shrinks", "pauses", "stays"]
WorkerPhase = Literal["starting", "ready", "training", "leaving", "gone"]
