"""What the control loop remembers: who may act, and what every tick did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

from django.db import connection, models

from autoscaler.planning.decisions.plan import Action

_ADD: Final = """
    INSERT INTO control_loop_ticktotal AS known (counted, kind, total, last)
    SELECT counted, kind, amount, amount
    FROM unnest(%(counted)s::text[], %(kinds)s::text[], %(amounts)s::float8[])
        AS new (counted, kind, amount)
    ON CONFLICT (counted, kind)
    DO UPDATE SET total = known.total + EXCLUDED.total, last = EXCLUDED.last
"""


class Lease(models.Model):
    """The right to apply plans. Whoever takes it over gets a higher fencing number."""

    name = models.CharField(primary_key=True, max_length=40)
    holder = models.CharField(max_length=80)
    fence = models.PositiveBigIntegerField(default=0)
    expires_at = models.DateTimeField()
    turn = models.BigIntegerField(default=0, db_default=0, help_text="Counts ticks.")
    epoch = models.BigIntegerField(
        default=0, db_default=0, help_text="When the database was restored last; 0: never."
    )

    def __str__(self) -> str:
        return f"{self.name} held by {self.holder} ({self.fence})"


class Tick(models.Model):
    """One pass of observe, plan, check, apply that changed something or raised an alarm."""

    at = models.DateTimeField()
    fence = models.PositiveBigIntegerField()
    observe_seconds = models.FloatField()
    plan_seconds = models.FloatField()
    apply_seconds = models.FloatField()
    pools = models.JSONField(default=list, help_text="Value, bound, gap, price per pool.")
    decisions = models.JSONField(default=list, help_text="Those that changed something.")
    held = models.JSONField(
        default=dict,
        db_default={},
        help_text="GPUs before and after, by job; of a former release it is empty.",
    )
    alarm = models.TextField(default="", blank=True, help_text="Invariants the plan broke.")

    class Meta:
        ordering = ("-at",)
        indexes = (
            models.Index(fields=("-at",)),
            models.Index(fields=("at",), condition=~models.Q(alarm=""), name="ticks_with_an_alarm"),
        )

    def __str__(self) -> str:
        return f"tick at {self.at:%H:%M:%S}"


class TickTotal(models.Model):
    """What all ticks together did, of one kind: it only grows, and monitoring reads it.

    The journal of ticks has only those that changed something, and forgets them; what is counted
    has to survive that, and the end of every process.
    """

    PARTS: ClassVar = ("observe", "plan", "apply")
    CHANGES: ClassVar = (Action.START, Action.RESCALE, Action.PAUSE, Action.DROP)

    class Counted(models.TextChoices):
        TICKS = "ticks", "ticks that looked at everything"
        SECONDS = "seconds", "seconds that a part of a tick took"
        CHANGES = "changes", "decisions that were carried out, by what they asked for"
        ALARMS = "alarms", "ticks in which something was wrong with a plan"
        REFUSED = "refused", "plans of a pool that were not applied"

    counted = models.CharField(max_length=10, choices=Counted)
    kind = models.CharField(max_length=20, blank=True, help_text="A part of a tick, or an action.")
    total = models.FloatField(default=0.0)
    last = models.FloatField(default=0.0, help_text="Of the newest tick.")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("counted", "kind"), name="one_total_of_each_kind"),
        )

    def __str__(self) -> str:
        return f"{self.counted} {self.kind}: {self.total:g}"

    @classmethod
    def add(
        cls, *, seconds: Mapping[str, float], changes: Iterable[str], has_alarm: bool, refused: int
    ) -> None:
        """Add what one tick did, in one statement of the caller's transaction.

        Args:
            seconds: that each of `PARTS` took.
            changes: the action of each decision that was carried out.
            has_alarm: something was wrong with a plan.
            refused: for how many pools no plan was applied.
        """
        done = Counter(changes)
        rows: list[tuple[str, str, float]] = [
            (cls.Counted.TICKS, "", 1),
            (cls.Counted.ALARMS, "", int(has_alarm)),
            (cls.Counted.REFUSED, "", refused),
            *((cls.Counted.SECONDS, part, seconds.get(part, 0.0)) for part in cls.PARTS),
            *((cls.Counted.CHANGES, action, done[action]) for action in cls.CHANGES),
        ]
        counted, kinds, amounts = zip(*rows, strict=True)
        parameters = {"counted": [*counted], "kinds": [*kinds], "amounts": [*map(float, amounts)]}
        with connection.cursor() as cursor:
            cursor.execute(_ADD, parameters)
