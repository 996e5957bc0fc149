"""What has a pool asked its cluster for, and what was decided about machines of it?"""

from __future__ import annotations

from typing import Final

from django.db import models

from cluster.following.asking import MachineAction
from cluster.models.pool import Pool

_KINDS = {
    MachineAction.ASKED: "asked: for one more machine",
    MachineAction.LATE: "late: the cluster has brought none for long",
    MachineAction.BROUGHT: "brought: the cluster has one",
    MachineAction.ARRIVED: "arrived: it takes work",
    MachineAction.UNUSABLE: "unusable: it takes no work",
    MachineAction.WITHDRAWN: "withdrawn: none is asked for any more",
    MachineAction.CLOSED: "closed: it is idle, and is to be given back",
    MachineAction.GIVEN_BACK: "given back: the cluster may take it",
    MachineAction.TAKEN_BACK: "taken back: there is work for it again",
}
MACHINE_EVENT_KINDS: Final = tuple((one.value, _KINDS[one]) for one in MachineAction)


class MachineRequest(models.Model):
    """One more machine that a pool asks for. Its number is a part of its lease's name there."""

    pool = models.ForeignKey(Pool, on_delete=models.CASCADE, related_name="machine_requests")
    asked_at = models.DateTimeField()
    reason = models.TextField(default="", db_default="")
    is_told_late = models.BooleanField(default=False, db_default=False)
    machine = models.CharField(max_length=80, blank=True, default="", db_default="")
    brought_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("id",)
        constraints = (
            models.UniqueConstraint(
                fields=("pool",),
                condition=models.Q(ended_at=None),
                name="a_pool_asks_for_one_machine_at_a_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.pool}: request {self.pk}"


class MachineEvent(models.Model):
    """Something that was decided about a machine. Names, not rows: it outlives node and pool."""

    at = models.DateTimeField()
    kind = models.CharField(max_length=12, choices=MACHINE_EVENT_KINDS)
    pool = models.CharField(max_length=40)
    node = models.CharField(max_length=80, blank=True, default="", db_default="")
    reason = models.TextField(default="", db_default="")
    numbers = models.JSONField(default=dict, db_default={}, blank=True)

    class Meta:
        ordering = ("at", "id")
        indexes = (models.Index(fields=("pool", "at")),)  # each tick asks what was lately

    def __str__(self) -> str:
        return f"{self.pool}: {self.kind}"

    @property
    def told(self) -> str:
        """Say it in a sentence, without the pool."""
        what = {
            MachineAction.ASKED: "one more machine was asked for",
            MachineAction.LATE: "no machine came yet",
            MachineAction.BROUGHT: "a machine came",
            MachineAction.ARRIVED: "what was asked for is there",
            MachineAction.UNUSABLE: "what came is of no use",
            MachineAction.WITHDRAWN: "no machine is asked for any more",
            MachineAction.CLOSED: f"{self.node} is to be given back",
            MachineAction.GIVEN_BACK: f"{self.node} was given back",
            MachineAction.TAKEN_BACK: f"{self.node} was taken back",
        }[MachineAction(self.kind)]
        return f"{what}: {self.reason}."
