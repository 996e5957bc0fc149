"""What may a team use of a pool?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime

from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import connection, models
from django.db.models import F, Min, Q, Sum

from tenancy.models.team import Team
from tenancy.quota_rules import QuotaProblem, Setting, problem_of_second_team, problems_of


class Quota(models.Model):
    """What a team may use of one pool: `guaranteed_gpus` are its own whenever it needs them."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="quotas")
    pool = models.ForeignKey("cluster.Pool", on_delete=models.CASCADE, related_name="quotas")
    guaranteed_gpus = models.PositiveIntegerField(
        default=0, help_text="GPUs the team gets back within seconds when it has work for them."
    )
    limit_gpus = models.PositiveIntegerField(
        null=True, blank=True, help_text="Most GPUs the team may hold. Empty: the whole pool."
    )
    lending_limit_gpus = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Most GPUs of the guarantee that others may use while it is idle. Empty: all.",
    )
    over_quota_weight = models.FloatField(
        default=1.0,
        validators=[MinValueValidator(0.0)],
        help_text="Share of idle GPUs beyond the guarantee, relative to other teams.",
    )

    class Meta:
        ordering = ("pool", "team")
        constraints = (
            models.UniqueConstraint(fields=("team", "pool"), name="one_quota_per_team_and_pool"),
            models.CheckConstraint(
                condition=Q(limit_gpus__isnull=True) | Q(limit_gpus__gte=F("guaranteed_gpus")),
                name="limit_is_at_least_the_guarantee",
            ),
            models.CheckConstraint(
                condition=Q(over_quota_weight__gte=0), name="over_quota_weight_is_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(lending_limit_gpus__isnull=True)
                | Q(lending_limit_gpus__lte=F("guaranteed_gpus")),
                name="lends_at_most_the_guarantee",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool}"

    def clean(self) -> None:
        """Refuse to promise GPUs that are not there, and settings that contradict each other.

        A transaction locks the pool until its end, so that no two promise the same GPUs.
        """
        if self.pool_id is None or self.team_id is None:
            return
        if connection.in_atomic_block:
            pools = type(self.pool)._default_manager  # noqa: SLF001 - Django's name for any model's
            pools.select_for_update(no_key=True).get(pk=self.pool_id)
        found: defaultdict[str, list[str]] = defaultdict(list)
        for problem in self.problems(Team.parents_by_name()):
            found[problem.field].append(problem.message)
        if found:
            raise ValidationError(dict(found))

    def problems(self, parents: Mapping[str, str | None]) -> Iterator[QuotaProblem]:
        """Find what is wrong with this quota as it is here, beside the pool's other quotas."""
        others = Quota.objects.filter(pool=self.pool_id).exclude(pk=self.pk).select_related("team")
        settings = {quota.team.name: quota.setting for quota in (*others, self)}
        if second := self._problem_of_second_team(settings):
            yield second
        yield from problems_of(
            self.team.name, settings, parents, gpus=None if self.pool.follows else self.gpus_of_pool
        )

    def _problem_of_second_team(self, settings: Mapping[str, Setting]) -> QuotaProblem | None:
        why = self.pool.why_for_one_team
        own = {"pk": self.pk, "pool": self.pool_id, "team": self.team_id}
        if not why or Quota.objects.filter(**own).exists():  # as it was before, or smaller
            return None
        others = {*settings, *self.pool.teams_with_jobs}
        return problem_of_second_team(self.team.name, others, why_for_one_team=why)

    @property
    def gpus_of_pool(self) -> int:
        """Count the pool's GPUs, also those of cordoned nodes, because they come back."""
        return self.pool.nodes.aggregate(all=Sum("gpus"))["all"] or 0

    @property
    def setting(self) -> Setting:
        return Setting(
            guaranteed=self.guaranteed_gpus or 0,
            limit=self.limit_gpus,
            lending_limit=self.lending_limit_gpus,
        )


class QuotaVersion(models.Model):
    """What a quota was from one moment on until another; without an end it still is.

    Triggers write them down (`tenancy_keep_quota` in a migration), so whoever changes a quota, and
    by whatever way, leaves one.
    """

    quota_number = models.BigIntegerField()
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="quota_versions")
    pool = models.CharField(max_length=40)
    guaranteed_gpus = models.PositiveIntegerField()
    limit_gpus = models.PositiveIntegerField(null=True, blank=True)
    lending_limit_gpus = models.PositiveIntegerField(null=True, blank=True)
    over_quota_weight = models.FloatField()
    since = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("pool", "since")
        constraints = (
            models.UniqueConstraint(
                fields=("quota_number",), condition=Q(until=None), name="one_quota_holds_now"
            ),
        )
        indexes = (
            models.Index(fields=("quota_number", "until"), name="quota_versions"),
            models.Index(fields=("since",), name="quota_since"),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool} from {self.since:%Y-%m-%d %H:%M} on"


def quotas_at(team: Team, moment: datetime) -> models.QuerySet[QuotaVersion]:
    """Return what the team's quotas were then, a pool after the other."""
    held = Q(since__lte=moment) & (Q(until__gt=moment) | Q(until=None))
    return QuotaVersion.objects.filter(held, team=team)


def first_known_quota() -> datetime | None:
    """Return since when quotas are written down; None: there was never one."""
    first: datetime | None = QuotaVersion.objects.aggregate(first=Min("since"))["first"]
    return first


def settings_of_pool(pool_id: int) -> dict[str, Setting]:
    """Return what each team is given of the pool, by name."""
    quotas = Quota.objects.filter(pool_id=pool_id).select_related("team")
    return {quota.team.name: quota.setting for quota in quotas}
