"""Whose was the GPU time of an hour, and of a day? Kept for ever, so a line is a few numbers."""

from __future__ import annotations

from django.db import models


class AccountOwner(models.Model):
    """Whom GPU time belongs to, by the names of then."""

    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40, blank=True, help_text="Empty: promised to nobody.")
    user = models.CharField(max_length=150, blank=True, help_text="Empty: held by no job.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("team", "pool", "user"), name="one_owner_of_gpu_time"),
        )

    def __str__(self) -> str:
        return f"{self.team}/{self.user} in {self.pool}"


class AccountedJob(models.Model):
    """A job that has held GPUs, as it was last; it outlives the job."""

    job = models.CharField(max_length=12)
    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40)
    user = models.CharField(max_length=150)
    name = models.CharField(max_length=80)
    labels = models.JSONField(default=dict)
    counted_generation = models.PositiveIntegerField(
        db_default=0, default=0, help_text="Up to which it is written down what switches cost."
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "pool", "team"), name="one_account_per_job"),
        )

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.job})"


class AccountedAmounts(models.Model):
    """Microseconds of GPUs. What is guaranteed, borrowed, reserved and idle is all there was."""

    guaranteed = models.BigIntegerField(default=0)
    borrowed = models.BigIntegerField(default=0)
    lent = models.BigIntegerField(default=0, help_text="What others borrowed of the team's.")
    reserved = models.BigIntegerField(default=0, help_text="Idle, and never lent.")
    idle = models.BigIntegerField(default=0)
    starting = models.BigIntegerField(default=0, help_text="Of what was held.")
    stalled = models.BigIntegerField(default=0, help_text="Of what was held.")
    lost = models.BigIntegerField(default=0, help_text="Training of earlier times, in vain.")

    class Meta:
        abstract = True

    AMOUNTS = (
        *("guaranteed", "borrowed", "lent", "reserved", "idle"),
        *("starting", "stalled", "lost"),
    )


class AccountLine(AccountedAmounts):
    """A line with a job has what it held, a line without one what became of the rest."""

    owner = models.ForeignKey(AccountOwner, on_delete=models.PROTECT, db_index=False)
    job = models.ForeignKey(
        AccountedJob, null=True, blank=True, on_delete=models.PROTECT, db_index=False
    )

    class Meta:
        abstract = True


class HourLine(AccountLine):
    """The GPU time of one hour."""

    hour = models.DateTimeField(help_text="When it began.")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("hour", "owner", "job"),
                name="one_line_per_hour_and_job",
                nulls_distinct=False,
            ),
        )
        indexes = (models.Index(fields=("job", "hour"), name="hours_of_an_accounted_job"),)

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.job_id} at {self.hour:%Y-%m-%dT%H}"


class DayLine(AccountLine):
    """The sums of a day's hours, in UTC."""

    day = models.DateField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("day", "owner", "job"),
                name="one_line_per_day_and_job",
                nulls_distinct=False,
            ),
        )
        indexes = (models.Index(fields=("job", "day"), name="days_of_an_accounted_job"),)

    def __str__(self) -> str:
        return f"{self.owner_id}/{self.job_id} on {self.day}"


class TeamDay(AccountedAmounts):
    """The sums of a day's lines that say nothing of people and jobs: what a year is read from.

    It may have more lost work than fits into any other number: jobs say how much that is.
    """

    day = models.DateField()
    pool = models.CharField(max_length=40)
    team = models.CharField(max_length=40, blank=True, help_text="Empty: promised to nobody.")
    lost = models.DecimalField(  # type: ignore[assignment] # as whole, and longer
        max_digits=30, decimal_places=0, default=0
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("day", "pool", "team"), name="one_sum_per_day_and_team"
            ),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool} on {self.day}"


class ClosedHour(models.Model):
    """An hour whose lines are all there and will not change."""

    hour = models.DateTimeField(primary_key=True, help_text="When it began.")
    capacities = models.JSONField(help_text="Microseconds of GPUs, by pool: what lines add up to.")
    excess = models.BigIntegerField(default=0, help_text="What was held beyond what there was.")
    unseen = models.BigIntegerField(default=0, help_text="Microseconds in which nobody looked.")

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%dT%H}"
