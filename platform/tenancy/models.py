"""Who uses the platform: teams, their members, their tokens, and what each team may use."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q, Sum

from tenancy.image_names import LONGEST, BadName, Pattern
from tenancy.quota_rules import Problem, Setting, problems_of

slug_validator = RegexValidator(
    r"^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$",
    "Use 1 to 40 lower-case letters, digits and hyphens, beginning with a letter.",
)


class Team(models.Model):
    """People who share a guarantee of GPUs. Teams form a tree."""

    name = models.CharField(max_length=40, unique=True, validators=[slug_validator])
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def parents_by_name(cls) -> dict[str, str | None]:
        return dict(cls.objects.values_list("name", "parent__name"))

    def clean(self) -> None:
        """Refuse a circle of parents, and one whose guarantees are not large enough."""
        parents = self._tree()
        above = parents[self.name]
        while above is not None:
            if above == self.name:
                raise ValidationError(
                    {"parent": f"{self.parent} is below {self.name}: no team is above itself."}
                )
            above = parents.get(above)
        for quota in self.quotas.all() if self.pk else ():
            problems = quota.problems(parents)
            if messages := [f"In pool {quota.pool}: {one.message}" for one in problems]:
                raise ValidationError({"parent": messages})

    def _tree(self) -> dict[str, str | None]:
        """The team above each, with this one as it stands here: moved or renamed, but not saved."""
        teams = {team.pk: team for team in Team.objects.all()} | {self.pk: self}
        return {
            team.name: teams[team.parent_id].name if team.parent_id else None
            for team in teams.values()
        }


class Membership(models.Model):
    """A person's place in a team."""

    class Role(models.TextChoices):
        MEMBER = "member", "member: submits and controls the team's jobs"
        LEAD = "lead", "lead: also manages members and tokens"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("team", "user"), name="one_role_per_team"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"


class Token(models.Model):
    """A team's key for programs. Only a digest is kept; the key is shown once."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    prefix = models.CharField(max_length=12, help_text="The first characters, to recognise it by.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ("team", "name")

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.prefix}…)"


class Secret(models.Model):
    """What only a team's jobs may know. What is `sealed` opens in `tenancy.team_secrets` alone."""

    class Kind(models.TextChoices):
        ENVIRONMENT = "environment", "environment: variables for the jobs that name it"
        REGISTRY = "registry", "registry: a login, for images of the team's jobs"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="secrets")
    name = models.CharField(max_length=40, validators=[slug_validator])
    kind = models.CharField(max_length=11, choices=Kind)
    variables = models.JSONField(default=list, help_text="Names of what it sets, in order.")
    registry = models.CharField(max_length=255, default="", blank=True, help_text="Of a login.")
    sealed = models.TextField(editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.CharField(max_length=150)

    class Meta:
        ordering = ("team", "name")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "name"), name="secret_names_are_unique_per_team"
            ),
            models.UniqueConstraint(
                fields=("team", "registry"),
                condition=~Q(registry=""),
                name="one_login_per_team_and_registry",
            ),
        )

    def __str__(self) -> str:
        return f"{self.team}/{self.name} ({self.kind})"


class ImageRule(models.Model):
    """Images that jobs may run. Without any rule only the platform's own image may be run."""

    team = models.ForeignKey(
        Team,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="image_rules",
        help_text="Whose jobs, those of teams below it included. Empty: everybody's.",
    )
    pattern = models.CharField(
        max_length=LONGEST + 100,  # in full it may be longer than as written
        help_text="Such as registry.example.com/vision/*; * stands for any characters.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("pattern", "id")
        constraints = (
            models.UniqueConstraint(
                fields=("team", "pattern"), nulls_distinct=False, name="one_rule_of_a_pattern"
            ),
        )

    def __str__(self) -> str:
        return f"{self.pattern} for {self.team or 'everybody'}"

    def clean(self) -> None:
        """Write the pattern in full, so that everybody sees what it covers."""
        try:
            self.pattern = str(Pattern.parse(self.pattern))
        except BadName as error:
            raise ValidationError({"pattern": f"This {error.problem}. {error.remedy}"}) from error


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
        """Refuse to promise GPUs that are not there, and settings that contradict each other."""
        if self.pool_id is None or self.team_id is None:
            return
        found: defaultdict[str, list[str]] = defaultdict(list)
        for problem in self.problems(Team.parents_by_name()):
            found[problem.field].append(problem.message)
        if found:
            raise ValidationError(dict(found))

    def problems(self, parents: Mapping[str, str | None]) -> Iterator[Problem]:
        """What is wrong with it as it stands here, beside the pool's other quotas."""
        others = Quota.objects.filter(pool=self.pool_id).exclude(pk=self.pk).select_related("team")
        settings = {quota.team.name: quota.setting for quota in (*others, self)}
        return problems_of(self.team.name, settings, parents, gpus=self.gpus_of_pool)

    @property
    def gpus_of_pool(self) -> int:
        """Cordoned nodes count, because they come back."""
        return self.pool.nodes.aggregate(all=Sum("gpus"))["all"] or 0

    @property
    def setting(self) -> Setting:
        return Setting(
            guaranteed=self.guaranteed_gpus or 0,
            limit=self.limit_gpus,
            lending_limit=self.lending_limit_gpus,
        )


def settings_of_pool(pool_id: int) -> dict[str, Setting]:
    """What each team is given of the pool, by name."""
    quotas = Quota.objects.filter(pool_id=pool_id).select_related("team")
    return {quota.team.name: quota.setting for quota in quotas}


class FairShareSettings(models.Model):
    """How idle GPUs of a pool are shared out, and come back. Without a row: the defaults."""

    class Target(models.TextChoices):
        GUARANTEE = "guarantee", "guarantee: a team takes back its guarantee"
        FAIR_SHARE = "fair_share", "fair share: it takes its share of what is idle, too"

    pool = models.OneToOneField(
        "cluster.Pool", on_delete=models.CASCADE, related_name="fair_share", primary_key=True
    )
    half_life_hours = models.FloatField(
        default=48.0,
        validators=[MinValueValidator(0.01)],
        help_text="After so many hours, usage of the past counts half.",
    )
    usage_weight = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="How much it counts against a team's weight. 0: not at all.",
    )
    reclaim_target = models.CharField(
        max_length=12,
        choices=Target,
        default=Target.GUARANTEE,
        help_text="How far a team with waiting work may take GPUs back from borrowers.",
    )
    reclaim_delay_seconds = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="A claim waits so long for GPUs that become free by themselves.",
    )
    reclaim_min_runtime_seconds = models.FloatField(
        default=0.0,
        validators=[MinValueValidator(0.0)],
        help_text="A borrower that runs for less is only shrunk for a claim, not paused.",
    )

    class Meta:
        verbose_name_plural = "fair share settings"
        constraints = (
            models.CheckConstraint(
                condition=Q(half_life_hours__gt=0), name="half_life_is_positive"
            ),
            models.CheckConstraint(
                condition=Q(usage_weight__gte=0)
                & Q(reclaim_delay_seconds__gte=0)
                & Q(reclaim_min_runtime_seconds__gte=0),
                name="fair_share_settings_are_not_negative",
            ),
        )

    def __str__(self) -> str:
        return f"fair share of {self.pool_id}"

    @classmethod
    def by_pool(cls) -> defaultdict[int, FairShareSettings]:
        """The settings of each pool by its id, the defaults for one without a row."""
        return defaultdict(cls, {row.pool_id: row for row in cls.objects.all()})

    @classmethod
    def half_lives(cls) -> defaultdict[int, float]:
        """In seconds, by pool id."""
        rows = cls.objects.values_list("pool_id", "half_life_hours")
        return defaultdict(
            lambda: 3600 * cls().half_life_hours, {pool: 3600 * hours for pool, hours in rows}
        )


class DecayedUsage(models.Model):
    """A team's GPU-seconds in a pool at one moment, those of the past halved every half-life."""

    pool = models.ForeignKey("cluster.Pool", on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    gpu_seconds = models.FloatField(default=0.0)
    at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("pool", "team"), name="one_usage_per_pool_and_team"),
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool}: {self.gpu_seconds:.0f} GPU-seconds"
