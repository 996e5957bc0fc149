"""What is trained, and all that is known about it.

`Job` holds desired and observed state. The rest are its histories: `Event` (what happened),
`Assignment` (what the planner wanted), `Generation` (what ran), `Worker` (which processes),
`MetricPoint`, `MetricRollup` and `Measurement` (how it went), `Prediction` (what was predicted),
`Quarantine` (what it is left out of), `ScriptReading` (how far its own reports were read).
`EventFeed` counts the events of all jobs. `Dependency` tells for which others a job waits,
`JobArray` which were submitted as trials of one array. `TeamRules` bound the specs of a team's
jobs (`team_rules`), and a `JobTemplate` fills them in.
`GpuClaim` makes double booking of GPUs impossible; `IdempotencyKey` double submitting. Of what was
removed `PastUsage` keeps the GPU time, and `Leftover` knows the files until they are gone as well.
"""

from jobs.models.assignment import Assignment
from jobs.models.event import Event, EventFeed
from jobs.models.generation import Generation
from jobs.models.idempotency_key import IdempotencyKey
from jobs.models.job import Job, new_id
from jobs.models.measured.measurement import Measurement
from jobs.models.measured.script_reading import ScriptReading
from jobs.models.measured.usage_point import UsagePoint
from jobs.models.metric_point import MetricPoint, MetricRollup
from jobs.models.prediction import Prediction
from jobs.models.quarantine import Quarantine
from jobs.models.relations.dependency import Dependency
from jobs.models.relations.job_array import JobArray
from jobs.models.removed import Leftover, PastUsage
from jobs.models.team_rules import JobTemplate, TeamRules
from jobs.models.worker import GpuClaim, Worker

__all__ = [
    "Assignment",
    "Dependency",
    "Event",
    "EventFeed",
    "Generation",
    "GpuClaim",
    "IdempotencyKey",
    "Job",
    "JobArray",
    "JobTemplate",
    "Leftover",
    "Measurement",
    "MetricPoint",
    "MetricRollup",
    "PastUsage",
    "Prediction",
    "Quarantine",
    "ScriptReading",
    "TeamRules",
    "UsagePoint",
    "Worker",
    "new_id",
]
