"""What is trained, what was asked for, and how far is it?"""

from __future__ import annotations

import secrets

from django.db import models
from django.db.models import Q

from autoscaler.job_vocabulary import JobReason
from jobs.job_mode import JobMode
from jobs.lifecycle import LIVE, JobState

_ID_LETTERS = "23456789abcdefghjkmnpqrstuvwxyz"  # none that people mistake for another


def new_id() -> str:
    return "".join(secrets.choice(_ID_LETTERS) for _ in range(10))


class Job(models.Model):
    """One training job of a team."""

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    team = models.ForeignKey(
        "tenancy.Team", on_delete=models.PROTECT, related_name="jobs", db_index=False
    )
    pool = models.ForeignKey("cluster.Pool", on_delete=models.PROTECT, related_name="jobs")
    name = models.CharField(max_length=80)
    trace = models.CharField(
        max_length=55,
        default="",
        db_default="",
        blank=True,
        help_text="The span of its submission, as a `traceparent`; empty: nobody traces it.",
    )
    spec = models.JSONField(help_text="As sent.")
    resolved_spec = models.JSONField(help_text="With every default filled in, and as changed.")
    version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Of its spec: counts up with each change."
    )
    changed_at = models.DateTimeField(
        null=True, blank=True, help_text="When somebody changed its spec last."
    )
    code = models.CharField(
        max_length=64,
        default="",
        db_default="",
        blank=True,
        help_text="The digest of its snapshot of code; empty: it has none.",
    )
    data_versions = models.JSONField(
        default=dict,
        db_default={},
        help_text="Of data that is fetched for it: by source, the version that it sees.",
    )
    labels = models.JSONField(default=dict)
    priority = models.PositiveSmallIntegerField(default=50)
    submitted_by = models.CharField(max_length=150)
    person_id = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="The account that submitted it, by its number, which no later one of the same"
        " name gets; null: a token, or a release that did not note it.",
    )

    array = models.ForeignKey(
        "jobs.JobArray",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="jobs",
        db_index=False,
        help_text="Of which it is a trial.",
    )
    array_limit = models.PositiveIntegerField(
        null=True, blank=True, help_text="The `max_running` of its array; null: none."
    )
    trial = models.JSONField(
        default=dict, db_default={}, help_text="Its number in the array and its values."
    )

    schedule = models.CharField(
        max_length=12,
        default="",
        db_default="",
        blank=True,
        help_text="The id of the schedule that submitted it; it may be gone. Empty: none did.",
    )
    schedule_name = models.CharField(max_length=40, default="", db_default="", blank=True)
    scheduled_for = models.DateTimeField(
        null=True, blank=True, help_text="When the schedule was due; null: none submitted it."
    )

    template = models.JSONField(
        default=dict,
        db_default={},
        help_text="Of which its spec began: its team, name and version; empty: of none.",
    )

    state = models.CharField(
        max_length=10, choices=[(s, s) for s in JobState], default=JobState.QUEUED
    )
    state_since = models.DateTimeField(
        null=True, blank=True, help_text="When it came into its state; null: when it was submitted."
    )
    reason = models.CharField(max_length=40, default=JobReason.PENDING_EVALUATION.value)
    message = models.TextField(default="", blank=True)
    explanation = models.JSONField(
        default=dict, help_text="Newest decision, whole, as the job's team may read it."
    )
    explanation_for_admins = models.JSONField(
        default=dict,
        db_default={},
        help_text="The same with other teams' names; empty: there are none in it.",
    )
    prediction = models.JSONField(
        default=dict,
        db_default={},
        help_text="Newest: made_at; start and finish as p10, p50, p90 or null.",
    )
    remedy = models.JSONField(
        default=dict,
        db_default={},
        help_text="What would start it: kind, numbers, message, found_at; or empty.",
    )
    ends_as = models.CharField(max_length=10, default="", blank=True)

    mode = models.CharField(max_length=8, choices=JobMode.choices(), default=JobMode.AUTO)
    group_seen_at = models.DateTimeField(
        null=True, blank=True, help_text="When its workers were first seen to form a group."
    )
    attempt = models.PositiveIntegerField(default=0, help_text="0 before the first start.")
    failures = models.PositiveIntegerField(default=0, help_text="Of the job's own code.")
    losses = models.PositiveIntegerField(default=0, help_text="Workers lost from outside.")
    losses_in_a_row = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Of all its workers, without a sign of life between."
    )
    lost_at = models.DateTimeField(
        null=True, blank=True, help_text="When all its workers were lost last."
    )
    progress_at = models.DateTimeField(
        null=True, blank=True, help_text="Newest sign that it gets anywhere: a step, or a line."
    )
    silence_told_at = models.DateTimeField(
        null=True, blank=True, help_text="When its people were told that there is none."
    )
    preparation_notice_revision = models.PositiveIntegerField(
        null=True, blank=True, help_text="The newest one of which people heard that it is prepared."
    )
    disk_notice_start = models.PositiveIntegerField(
        null=True, blank=True, help_text="The newest start in which they heard that its disk fills."
    )
    error_notice_at = models.DateTimeField(
        null=True, blank=True, help_text="When they heard last that a tick could not handle it."
    )
    trained_at = models.DateTimeField(
        null=True, blank=True, help_text="When its last epoch was over."
    )
    not_before = models.DateTimeField(null=True, blank=True, help_text="Back-off after a failure.")
    prepared_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When what it waits for as `preparing` is there; null: nobody can tell.",
    )
    generation = models.PositiveIntegerField(default=0, help_text="Active one; 0: none yet.")
    revision = models.PositiveIntegerField(default=0, help_text="Newest assignment.")
    starts = models.PositiveIntegerField(
        default=0,
        db_default=0,
        help_text="How often it came out of the queue; tells its checkpoints apart.",
    )
    database_epoch = models.BigIntegerField(
        default=0,
        db_default=0,
        help_text="Of the database, when it came out of the queue last: a restored one counts"
        " starts a second time.",
    )
    coordinator_node = models.CharField(
        max_length=80,
        default="",
        db_default="",
        blank=True,
        help_text="Where it runs; empty: nowhere yet.",
    )
    coordinator_term = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Counts up with each coordinator that takes over."
    )
    coordinator_restarts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Since it came into its state."
    )
    takes_workers_token = models.BooleanField(
        default=False,
        db_default=True,
        help_text="Its coordinator was started before coordinators had tokens of their own.",
    )
    coordinator_port = models.PositiveIntegerField(null=True, blank=True)
    coordinator_seen_at = models.DateTimeField(null=True, blank=True)

    submitted_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    last_rescaled_at = models.DateTimeField(null=True, blank=True)
    rescales = models.PositiveIntegerField(default=0)
    gpu_seconds = models.FloatField(default=0.0, help_text="GPU time held so far.")
    held_seconds = models.FloatField(
        default=0.0, db_default=0.0, help_text="Time so far in which it held any GPU."
    )
    max_duration_notice = models.FloatField(
        null=True, blank=True, help_text="The `max_duration` of which they heard that it is near."
    )
    budget_notice = models.FloatField(
        null=True, blank=True, help_text="The `budget_gpu_hours` of which they heard likewise."
    )

    samples = models.BigIntegerField(default=0)
    total_samples = models.BigIntegerField(null=True, blank=True)
    step = models.BigIntegerField(default=0)
    epoch = models.FloatField(default=0.0)
    samples_per_second = models.FloatField(default=0.0)
    values = models.JSONField(default=dict, help_text="Newest logged metrics.")
    model_bytes = models.BigIntegerField(default=0)
    noise_scale = models.FloatField(
        null=True, blank=True, help_text="Gradient noise in samples, at the base batch."
    )
    first_noise_scale = models.FloatField(
        null=True, blank=True, help_text="The first that was measured: noise grows with training."
    )
    training = models.CharField(
        max_length=64,
        default="",
        db_default="",
        blank=True,
        help_text="Equal for jobs that train the same: a digest of what they run.",
    )
    is_measured = models.BooleanField(
        default=False, db_default=False, help_text="It has measured how fast it trains."
    )
    earlier_measurements = models.JSONField(
        default=list,
        db_default=[],
        help_text="With which it began, of the earlier run: see `jobs.admission.earlier_runs`.",
    )
    earlier_run = models.CharField(
        max_length=12,
        default="",
        db_default="",
        blank=True,
        help_text="The job with whose measurements it began; empty: with none.",
    )
    batch_limits = models.JSONField(
        default=dict,
        db_default={},
        help_text="Samples that fit one worker at once, by GPU type, as found out.",
    )
    disk_bytes = models.BigIntegerField(
        null=True, blank=True, help_text="That its files take, as found last; null: not known."
    )
    disk_files = models.BigIntegerField(
        null=True, blank=True, help_text="And folders that it has; null: not known."
    )
    disk_bytes_within = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="The most that they took while its team kept no more than it may; null: none.",
    )
    kept_bytes = models.BigIntegerField(
        null=True,
        blank=True,
        help_text="That they take since it ended; null: it lives, or is to be looked into again.",
    )
    has_closed_folder = models.BooleanField(
        default=False, db_default=False, help_text="Into which nobody can look to measure it."
    )
    idle_since = models.DateTimeField(
        null=True, blank=True, help_text="All its workers have done nothing since then."
    )
    idle_notice = models.DateTimeField(
        null=True, blank=True, help_text="The `idle_since` of which its people heard last."
    )
    checkpoint_step = models.BigIntegerField(null=True, blank=True)
    warnings = models.JSONField(
        default=list,
        db_default=[],
        help_text="What in its script is to be looked at, in sentences, oldest first.",
    )
    metric_points = models.BigIntegerField(
        default=0, db_default=0, help_text="How many were stored: no more than it had time to make."
    )

    planning_failures = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How often it began to fail, each within a day."
    )
    planning_failed_at = models.DateTimeField(
        null=True, blank=True, help_text="When it began to fail last."
    )

    is_pinned = models.BooleanField(
        default=False, db_default=False, help_text="Nothing of it is removed for its age."
    )
    curves_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    history_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    logs_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    files_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    outputs_removed_at = models.DateTimeField(null=True, blank=True, editable=False)
    code_removed_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("-submitted_at", "id")
        indexes = (
            models.Index(fields=("state",)),
            models.Index(fields=("team", "-submitted_at")),
            models.Index(fields=("-submitted_at", "id"), name="newest_jobs_first"),
            models.Index(fields=("finished_at",)),
            models.Index(fields=("submitted_by", "-submitted_at"), name="jobs_of_a_person"),
            models.Index(
                fields=("team", "training", "-submitted_at"),
                condition=Q(is_measured=True),
                name="measured_runs_of_a_training",
            ),
            models.Index(
                fields=("team", "code"), condition=~Q(code=""), name="jobs_of_a_code_snapshot"
            ),
            models.Index(
                fields=("array",), condition=Q(array__isnull=False), name="trials_of_an_array"
            ),
            models.Index(
                fields=("schedule", "-submitted_at"),
                condition=~Q(schedule=""),
                name="jobs_of_a_schedule",
            ),
            models.Index(fields=("state_since",)),  # every tick asks which have ended lately
            models.Index(
                fields=("team", "-kept_bytes"),
                condition=Q(kept_bytes__gt=0),
                name="what_ended_jobs_keep",
            ),
            models.Index(
                fields=("finished_at",),
                condition=Q(finished_at__isnull=False, kept_bytes=None),
                name="ended_jobs_to_look_into",
            ),
        )
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"),
                condition=Q(state__in=sorted(LIVE)),
                name="live_job_names_are_unique_per_team",
            ),
            models.CheckConstraint(condition=Q(priority__lte=100), name="priority_is_0_to_100"),
        )

    def __str__(self) -> str:
        return f"{self.team_id}/{self.name} ({self.id})"

    @property
    def measured_noise_scale(self) -> float | None:
        """Its own; None while it only goes by that of an earlier run."""
        is_own = self.first_noise_scale is not None or not self.earlier_run
        return self.noise_scale if is_own else None
