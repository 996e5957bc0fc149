"""Which machines have the GPUs, and what became of them?"""

from __future__ import annotations

from collections.abc import Iterable

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from tenancy.models import Team, settings_of_pool
from tenancy.quota_rules import total_promised

from cluster.models.pool import Pool
from cluster.models.service_urls import check_service_url


class Node(models.Model):
    """One machine of a pool."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="nodes")
    name = models.CharField(max_length=80, unique=True)
    address = models.CharField(
        max_length=200, default="127.0.0.1", help_text="Where its processes reach one another."
    )
    host_url = models.CharField(
        "host URL",
        max_length=200,
        blank=True,
        default="",
        db_default="",
        db_column="docker_url",  # of the time when only containers had one
        help_text="Where its worker host is reached. Empty: where this installation's settings say."
        " Nodes of the same URL are of one machine.",
    )
    service_url = models.CharField(
        "service URL",
        max_length=200,
        blank=True,
        default="",
        db_default="",  # for processes of the version before, which know no such column
        help_text="Where jobs' coordinators on this node reach the api, such as"
        " https://concertina.example.com. Empty: where this installation's settings say.",
    )
    gpus = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    gpu_uuids = models.JSONField(
        "GPU UUIDs",
        default=list,
        db_default=[],
        blank=True,
        help_text="By index, as `nvidia-smi -L` lists them; one may stand for several GPUs, which"
        " then share it. Empty: processes are given GPUs by their numbers.",
    )
    is_schedulable = models.BooleanField(
        default=True, help_text="Off: no new work is placed here (cordoned)."
    )
    is_draining = models.BooleanField(
        default=False,
        db_default=False,
        help_text="On, for a cordoned node: running jobs move away from it.",
    )
    leaving_because = models.CharField(
        max_length=300,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Why the cluster that its pool follows takes it back, for which it is drained.",
    )
    idle_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of a pool that asks for machines: since then nothing has run there.",
    )
    giving_back_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="It was idle, and is being given back to the cluster since then.",
    )
    is_released = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="On, for a node that is being given back: nothing of its machine is leased.",
    )
    is_unfit = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="On, for a node that is being given back: it took no work for long.",
    )
    silent_since = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Since then it does not answer and takes no new work; empty: it answers.",
    )
    silent_reason = models.CharField(
        max_length=300, blank=True, default="", db_default="", editable=False
    )

    memory_bytes = models.BigIntegerField(
        null=True, blank=True, editable=False, help_text="Of its machine; empty: not known."
    )
    cpus = models.PositiveIntegerField(
        null=True, blank=True, editable=False, help_text="Of its machine; empty: not known."
    )
    complaints = models.TextField(
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="What is too old there, and why that matters; a line each.",
    )

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(condition=models.Q(gpus__gte=1), name="node_has_a_gpu"),
            models.CheckConstraint(
                condition=models.Q(is_draining=False) | models.Q(is_schedulable=False),
                name="a_draining_node_takes_no_work",
            ),
            models.CheckConstraint(
                condition=models.Q(giving_back_since=None, is_released=False)
                | models.Q(giving_back_since__isnull=False, is_schedulable=False),
                name="a_node_that_is_given_back_takes_no_work",
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def takes_work(self) -> bool:
        """Neither an admin nor its silence keeps new work away."""
        return self.is_schedulable and self.silent_since is None

    def cuda_name(self, index: int) -> str:
        """Return what CUDA_VISIBLE_DEVICES calls the GPU of this index; several may share one."""
        return self.gpu_uuids[index] if index < len(self.gpu_uuids) else str(index)

    def cuda_names(self, indices: Iterable[int]) -> tuple[str, ...]:
        """Name each GPU once, in order."""
        return tuple(dict.fromkeys(self.cuda_name(index) for index in indices))

    def share_of_machine(self, gpus: int) -> float:
        """Return the part of its machine that so many GPUs stand for; it may have several nodes."""
        nodes = Node.objects.filter(host_url=self.host_url)
        return float(gpus / nodes.aggregate(all=models.Sum("gpus"))["all"])

    def clean(self) -> None:
        """Refuse what cannot be, and to take away GPUs that are guaranteed to teams."""
        if self.is_schedulable:  # whoever opens it keeps it
            self.giving_back_since, self.is_released, self.is_unfit = None, False, False
        self.check_gpu_uuids()
        self.check_host_url()
        check_service_url(self.service_url)
        if self.pk is not None:
            self.check_is_idle()
        if self.pk is None and self.pool_id is not None and self.pool.follows:
            message = "Nodes of this pool come from its cluster: start the machine with its labels."
            raise ValidationError({"pool": message})
        if self.is_draining and self.is_schedulable:
            raise ValidationError({"is_draining": "Only a node that takes no work can be drained."})
        if self.pool_id is None or not self.gpus or self.pool.follows:
            return
        others = self.pool.nodes.exclude(pk=self.pk).aggregate(all=models.Sum("gpus"))["all"] or 0
        promised = total_promised(settings_of_pool(self.pool_id), Team.parents_by_name())
        if others + self.gpus < promised:
            raise ValidationError(
                {
                    "gpus": f"Teams are guaranteed {promised} GPUs of pool {self.pool}, which would"
                    f" have {others + self.gpus}. Lower their guarantees first."
                }
            )

    def check_is_idle(self) -> None:
        """Refuse to call a machine in use something else, or another machine the same.

        What runs there would not be seen any more, and its GPUs be given to others.
        """
        in_use = Node.objects.filter(pk=self.pk, claims__isnull=False).first()
        fields = ("name", "host_url") if in_use else ()
        changed = [field for field in fields if getattr(self, field) != getattr(in_use, field)]
        if changed:
            message = "Jobs have GPUs of this node. Drain it first, and wait until they are free."
            raise ValidationError(dict.fromkeys(changed, message))

    def check_host_url(self) -> None:
        """Refuse what this installation's kind of worker hosts cannot reach."""
        if complaint := settings.CONCERTINA.worker_host.complaint_of_node_url(self.host_url):
            raise ValidationError({"host_url": complaint})

    def check_gpu_uuids(self) -> None:
        """Refuse what are no names, and names of some GPUs only: a mixture would confuse them."""
        uuids: object = self.gpu_uuids
        are_names = isinstance(uuids, list) and all(
            isinstance(name, str) and name and "," not in name for name in uuids
        )
        if not are_names:
            raise ValidationError({"gpu_uuids": 'Write a list of names, such as ["GPU-8a1c…"].'})
        if self.gpu_uuids and len(self.gpu_uuids) != self.gpus:
            mismatch = f"{len(self.gpu_uuids)} names for {self.gpus} GPUs"
            raise ValidationError({"gpu_uuids": f"Write a name for each GPU, or none: {mismatch}."})


class NodeChange(models.Model):
    """Something that happened to a node. Names, not rows: it outlives the node and its pool."""

    class Kind(models.TextChoices):
        JOINED = "joined", "joined: new in its pool"
        LOST = "lost", "lost: removed from its pool"
        CORDONED = "cordoned", "cordoned: takes no new work"
        DRAINING = "draining", "draining: its jobs move away"
        UNCORDONED = "uncordoned", "uncordoned: takes work again"
        SILENT = "silent", "silent: does not answer, takes no new work"
        ANSWERING = "answering", "answering: nothing unwanted runs there, takes work again"

    at = models.DateTimeField(auto_now_add=True)
    kind = models.CharField(max_length=10, choices=Kind)
    pool = models.CharField(max_length=40)
    node = models.CharField(max_length=80)

    class Meta:
        ordering = ("at", "id")
        indexes = (models.Index(fields=("at",)),)  # every tick asks what happened lately

    def __str__(self) -> str:
        return f"{self.node}: {self.kind}"
