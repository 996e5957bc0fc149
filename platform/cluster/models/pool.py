"""Which GPUs are planned together, and how?"""

from __future__ import annotations

from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from tenancy.models import slug_validator

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import DEFAULT_POLICY, PolicyRefused
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from cluster.models.all_reduce import validate_all_reduce

ADMISSION_VARIANTS: Final = (
    (AdmissionVariant.QUEUEING.value, "queueing: a new job that does not fit waits"),
    (AdmissionVariant.DROPPING.value, "dropping: it is refused for good"),
)


class Pool(models.Model):
    """GPUs of one type, planned together. On a machine without GPUs a slot stands for one."""

    name = models.CharField(max_length=40, unique=True, validators=[slug_validator])
    gpu_type = models.CharField(max_length=40, default="slot")
    policy = models.CharField(
        max_length=40,
        default=DEFAULT_POLICY,
        help_text="What the planner makes the most of: a policy of this installation.",
    )
    policy_options = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="What differs from the policy's defaults.",
    )
    admission = models.CharField(
        max_length=10,
        choices=ADMISSION_VARIANTS,
        default=AdmissionVariant.QUEUEING.value,
        db_default=AdmissionVariant.QUEUEING.value,
        help_text="What becomes of a new job that does not fit beside the smallest sizes of all"
        " others.",
    )
    dollars_per_gpu_hour = models.FloatField(
        default=0.0,
        db_default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="What policies about money reckon with.",
    )
    all_reduce = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        validators=[validate_all_reduce],
        help_text="Measured times of an all-reduce, to foresee how new jobs scale: a list of"
        ' {"bytes": 100000000, "workers": 4, "crosses_nodes": false, "seconds": 0.012}.'
        " Empty: guessed from the size of a job's model.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    unplanned_since = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="No plan of it was sound since then."
    )
    unplanned_because = models.TextField(default="", db_default="", blank=True, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Refuse a policy that is not installed, and options that it cannot take."""
        policies = installed_policies()
        settings = self.policy_options
        if not isinstance(settings, dict):
            raise ValidationError({"policy_options": 'Write a mapping such as {"threshold": 0.2}.'})
        try:
            policies.made(self.policy, settings)
        except PolicyRefused as problem:
            field = "policy_options" if self.policy in policies.names else "policy"
            raise ValidationError({field: str(problem)}) from problem
