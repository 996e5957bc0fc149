"""Who uses the platform: teams, their members, their tokens, and what each team may use."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator, RegexValidator
from django.db import models
from django.db.models import F, Q, Sum

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
        )

    def __str__(self) -> str:
        return f"{self.team} in {self.pool}"

    def clean(self) -> None:
        """Refuse to promise GPUs that are not there, and limits below the promise."""
        if self.limit_gpus is not None and self.limit_gpus < self.guaranteed_gpus:
            raise ValidationError(
                {
                    "limit_gpus": f"The limit ({self.limit_gpus}) is below the guarantee"
                    f" ({self.guaranteed_gpus}). Raise it, or leave it empty."
                }
            )
        if self.pool_id is not None and self.team_id is not None:
            self._check_sum()

    def _check_sum(self) -> None:
        gpus = self.pool.nodes.aggregate(all=Sum("gpus"))["all"] or 0
        others = self.pool.quotas.exclude(team_id=self.team_id)
        promised = others.aggregate(all=Sum("guaranteed_gpus"))["all"] or 0
        if promised + self.guaranteed_gpus > gpus:
            raise ValidationError(
                {
                    "guaranteed_gpus": f"Pool {self.pool} has {gpus} GPUs, of which {promised} are"
                    f" guaranteed to other teams. Guarantee at most {max(gpus - promised, 0)}."
                }
            )
