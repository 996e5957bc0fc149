"""Which GPUs are planned together, and how?"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from tenancy.models import slug_validator
from tenancy.quota_rules import trust_needed

from autoscaler.installed_policies import installed_policies
from autoscaler.planning.policies import DEFAULT_POLICY, PolicyRefused
from autoscaler.planning.snapshot.vocabulary import AdmissionVariant
from cluster.following.asking import (
    LARGEST_WORTH,
    LONGEST_IDLENESS,
    LONGEST_PATIENCE,
    MOST_NODES,
    MOST_PER_HOUR,
    SHORTEST_PATIENCE,
)
from cluster.following.labels import complaint_of
from cluster.following.steps import MOST_GPUS
from cluster.models.all_reduce import validate_all_reduce

SLOT: Final = "slot"  # the GPU type of a machine without GPUs
ADMISSION_VARIANTS: Final = (
    (AdmissionVariant.QUEUEING.value, "queueing: a new job that does not fit waits"),
    (AdmissionVariant.DROPPING.value, "dropping: it is refused for good"),
)


class Pool(models.Model):
    """GPUs of one type, planned together. On a machine without GPUs a slot stands for one."""

    name = models.CharField(max_length=40, unique=True, validators=[slug_validator])
    gpu_type = models.CharField(max_length=40, default=SLOT)
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
    ray_selector = models.JSONField(
        "Ray selector",
        default=dict,
        db_default={},
        blank=True,
        help_text='Labels of machines of the Ray cluster, such as {"concertina.io/pool": "h100"}:'
        " the pool's nodes are made from those that bear all of them, and come and go with them."
        " Empty: its nodes are those that admins add.",
    )
    gpus_per_node = models.PositiveIntegerField(
        "GPUs per node",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_GPUS)],
        help_text="Of a pool with a Ray selector: how many GPUs of each machine are the pool's;"
        " others of the cluster may use the rest. Empty: all.",
    )
    nodes_min = models.PositiveIntegerField(
        "fewest nodes",
        default=0,
        db_default=0,
        validators=[MaxValueValidator(MOST_NODES)],
        help_text="Of a pool with `nodes_max`: it asks for machines while it has fewer, and gives"
        " none back.",
    )
    nodes_max = models.PositiveIntegerField(
        "most nodes",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_NODES)],
        help_text="Of a pool with a Ray selector and `gpus_per_node`: it asks the cluster for"
        " machines until it has so many, and gives back those that are idle. Empty: it does"
        " neither.",
    )
    worth_a_node = models.FloatField(
        "worth of a node",
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(LARGEST_WORTH)],
        help_text="A machine is asked for as well where one more GPU would add more than this, in"
        " what the pool's policy makes the most of. Empty: only for jobs that wait.",
    )
    patience_seconds = models.PositiveIntegerField(
        default=60,
        db_default=60,
        validators=[MinValueValidator(SHORTEST_PATIENCE), MaxValueValidator(LONGEST_PATIENCE)],
        help_text="A need lasts for so long before a machine is asked for.",
    )
    idle_minutes = models.PositiveIntegerField(
        default=10,
        db_default=10,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_IDLENESS)],
        help_text="A node on which nothing has run for so long is given back.",
    )
    nodes_per_hour = models.PositiveIntegerField(
        default=12,
        db_default=12,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_PER_HOUR)],
        help_text="At most so many machines are asked for within an hour, and as many given back.",
    )
    needs_a_node_since = models.DateTimeField(null=True, blank=True, editable=False)
    asking_note = models.TextField(
        default="",
        db_default="",
        blank=True,
        editable=False,
        help_text="Why no machine is asked for or given back though there is reason to.",
    )
    teams_trust_each_other = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Where processes of all teams are one user of a machine, as on a Ray cluster"
        " without CONCERTINA_RAY_FIRST_UID, a pool serves one team, unless this is ticked: then any"
        " team's job can read what the others' have there.",
    )
    following_note = models.TextField(
        default="",
        db_default="",
        blank=True,
        editable=False,
        help_text="What admins should know of its machines in the cluster; a line each.",
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

    @property
    def is_of_gpus(self) -> bool:
        """Its workers are given GPUs, and not only slots."""
        return self.gpu_type != SLOT

    @property
    def follows(self) -> bool:
        """Its nodes come and go with machines of a cluster."""
        return bool(self.ray_selector)

    @property
    def gpus_of_new_nodes(self) -> int:
        """Return how many GPUs each machine brings that it asks for; 0: it asks for none."""
        return 0 if self.nodes_max is None else self.gpus_per_node or 0

    @property
    def most_gpus(self) -> int:
        """Return how many it may come to have by asking for machines; 0: it asks for none."""
        return self.gpus_of_new_nodes * (self.nodes_max or 0)

    @property
    def why_for_one_team(self) -> str:
        """Say why it serves one team only; empty: it serves any number."""
        return (
            ""
            if self.teams_trust_each_other
            else settings.CONCERTINA.worker_host.why_pools_serve_one_team
        )

    @property
    def is_open_among_teams(self) -> bool:
        """Any team's job may read what the others' have: an admin said so, where it matters."""
        why = settings.CONCERTINA.worker_host.why_pools_serve_one_team
        return self.teams_trust_each_other and bool(why)

    def clean(self) -> None:
        """Refuse what is not there: a policy, options of it, a cluster to follow."""
        self.check_following()
        self.check_asking()
        self.check_trust()
        policies = installed_policies()
        options = self.policy_options
        if not isinstance(options, dict):
            raise ValidationError({"policy_options": 'Write a mapping such as {"threshold": 0.2}.'})
        try:
            policies.made(self.policy, options)
        except PolicyRefused as problem:
            field = "policy_options" if self.policy in policies.names else "policy"
            raise ValidationError({field: str(problem)}) from problem

    def check_following(self) -> None:
        """Refuse labels that are none, and those of a cluster that is not there."""
        if complaint := complaint_of(self.ray_selector):
            raise ValidationError({"ray_selector": complaint})
        if self.follows and not settings.CONCERTINA.worker_host.follows_a_cluster:
            raise ValidationError(
                {
                    "ray_selector": "This installation runs jobs on no Ray cluster that it could"
                    " follow: start it with CONCERTINA_WORKER_HOST=ray, or leave this empty."
                }
            )
        if self.gpus_per_node is not None and not self.follows:
            raise ValidationError(
                {
                    "gpus_per_node": "Only a pool with a Ray selector has it; write the number of"
                    " GPUs of each node instead."
                }
            )

    def check_asking(self) -> None:
        """Refuse to ask for machines of nobody, of no known size, or below the fewest nodes."""
        if self.nodes_max is None:
            if self.nodes_min:
                message = "Only a pool that asks for machines has it: set nodes_max as well, or 0."
                raise ValidationError({"nodes_min": message})
            return
        if not self.follows:
            message = (
                "Only a pool with a Ray selector asks for machines: write the labels that its"
                " machines bear in ray_selector, or leave this empty."
            )
            raise ValidationError({"nodes_max": message})
        if self.gpus_per_node is None:
            message = (
                "A pool that asks for machines says how many GPUs each brings (processors, where"
                " there are none): set gpus_per_node as well."
            )
            raise ValidationError({"gpus_per_node": message})
        if self.nodes_min > self.nodes_max:
            message = f"It is above nodes_max, which is {self.nodes_max}. Lower it, or raise that."
            raise ValidationError({"nodes_min": message})

    @property
    def teams_with_jobs(self) -> set[str]:
        """Return the names of teams with jobs there that have not ended."""
        jobs = self.jobs.filter(finished_at=None).order_by()
        return set(jobs.values_list("team__name", flat=True).distinct())

    @property
    def teams_there(self) -> set[str]:
        """Return the names of teams with quotas there, or with jobs that have not ended."""
        return {*self.quotas.values_list("team__name", flat=True), *self.teams_with_jobs}

    def check_trust(self) -> None:
        """Refuse that it becomes one team's while several are there."""
        if self.pk is None or not (why := self.why_for_one_team):
            return
        were_trusting = Pool.objects.filter(pk=self.pk, teams_trust_each_other=True).exists()
        if were_trusting and len(teams := sorted(self.teams_there)) > 1:
            raise ValidationError({"teams_trust_each_other": trust_needed(teams, why)})
