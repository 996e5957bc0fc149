"""Which sweeps are there, how far have they got, and which values did trials have at rungs?"""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from tenancy.models import Team

from jobs.models import Job, JobArray


class Sweep(models.Model):
    """A spec and what its trials try; the trials are jobs of its array, whose id it has.

    In whose name it submits is told by numbers of rows, as of schedules.
    """

    array = models.OneToOneField(
        JobArray, primary_key=True, on_delete=models.CASCADE, related_name="sweep"
    )
    spec = models.JSONField(
        help_text="As sent, with its team, its template and its team's defaults, without `sweep`."
    )
    template = models.JSONField(
        default=dict,
        db_default={},
        help_text="With which template of which team it began, and which version; empty: none.",
    )
    terms = models.JSONField(help_text="The field `sweep`, as sent.")
    made = models.PositiveIntegerField(default=0, help_text="How many trials were submitted.")

    holder = models.CharField(max_length=150, help_text="In whose name it submits, as shown.")
    person_id = models.BigIntegerField(null=True, help_text="The account; null: a team's token.")
    token_line = models.BigIntegerField(
        null=True, help_text="The token, and those it is rotated to; null: a person's session."
    )

    refusals = models.PositiveIntegerField(
        default=0, help_text="In how many rounds in a row its next trials were refused."
    )
    try_at = models.DateTimeField(null=True, help_text="Not before; null: at once.")
    message = models.CharField(
        max_length=1000, default="", help_text="Why its next trials were refused; empty: not."
    )
    looked_at = models.DateTimeField(null=True, help_text="When a round came to it last.")
    ended_at = models.DateTimeField(null=True, help_text="When its last trial had ended.")

    class Meta:
        indexes = (
            models.Index(
                fields=("looked_at",), condition=Q(ended_at=None), name="sweeps_that_go_on"
            ),
        )

    def __str__(self) -> str:
        return f"sweep {self.pk}"

    @property
    def team(self) -> Team:
        return self.array.team


class SweepMark(models.Model):
    """A trial that came to a rung, and with which value of the metric."""

    sweep = models.ForeignKey(Sweep, on_delete=models.CASCADE, related_name="marks", db_index=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", db_index=False)
    number = models.PositiveIntegerField(help_text="Of the trial.")
    rung = models.PositiveSmallIntegerField(help_text="From 0.")
    resource = models.FloatField(help_text="How far the trial was when the value was logged.")
    value = models.FloatField(null=True, help_text="null: it was no number, as of NaN.")
    at = models.DateTimeField(auto_now_add=True)
    promoted_at = models.DateTimeField(null=True, help_text="When it was let go on; null: not.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "rung"), name="a_trial_comes_to_a_rung_once"),
            models.UniqueConstraint(
                fields=("sweep", "number", "rung"), name="a_number_comes_to_a_rung_once"
            ),
        )

    def __str__(self) -> str:
        return f"trial {self.number} of {self.sweep_id} at rung {self.rung}"
