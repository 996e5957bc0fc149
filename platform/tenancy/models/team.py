"""Which teams are there, who is above whom, and who is in them?"""

from __future__ import annotations

from typing import Final

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models

from autoscaler.job_network import JobNetwork
from tenancy.models.reachable import check_listed
from tenancy.models.slug import slug_validator

MOST_QUEUED_JOBS: Final = 100_000  # each is planned in every tick
MOST_DISK_GIB: Final = 2**20  # a PiB: the largest size that a spec can say


class Team(models.Model):
    """People who share a guarantee of GPUs. Teams form a tree."""

    name = models.CharField(max_length=40, unique=True, validators=[slug_validator])
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="children"
    )

    max_queued_jobs = models.PositiveIntegerField(
        default=1000,
        db_default=1000,
        validators=[MaxValueValidator(MOST_QUEUED_JOBS)],
        help_text="Most jobs that may wait, queued or paused; the next one is refused.",
    )
    network = models.CharField(
        max_length=8,
        choices=JobNetwork.choices(),
        default=JobNetwork.ISOLATED,
        db_default=JobNetwork.ISOLATED,
        help_text="What its jobs may ask for, as `network` in their specs.",
    )
    reachable = models.JSONField(
        default=list,
        db_default=[],
        blank=True,
        validators=[check_listed],
        help_text='Hosts with ports, for `listed`: ["pypi.org:443", "*.example.com:443"].',
    )
    most_disk_gib = models.PositiveIntegerField(
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_DISK_GIB)],
        help_text="Most that its jobs keep on disk, in GiB. Empty: the installation's number.",
    )
    disk_bytes = models.BigIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="That its jobs keep on disk, ended ones included, as summed last.",
    )
    # The database's default is for teams from before members had jobs of their own: they go on.
    members_change_all_jobs = models.BooleanField(
        default=False,
        db_default=True,
        help_text="True: each of its members may change, cancel and delete all of the team's jobs,"
        " not only those that they submitted themselves.",
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
        """Refuse a circle of parents, a parent whose guarantees are not enough, an empty list."""
        if self.network == JobNetwork.LISTED and not self.reachable:
            raise ValidationError({"reachable": "List a host, or let the team be isolated."})
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
        """Return the team above each, with this one as it is here: perhaps moved, and not saved."""
        teams = {team.pk: team for team in Team.objects.all()} | {self.pk: self}
        return {
            team.name: teams[team.parent_id].name if team.parent_id else None
            for team in teams.values()
        }


class Membership(models.Model):
    """A person's place in a team, which holds in all teams below it: see `access.permissions`."""

    class Role(models.TextChoices):
        VIEWER = "viewer", "viewer: sees everything of the team, and changes nothing"
        MEMBER = "member", "member: also submits jobs, and changes their own"
        LEAD = "lead", "lead: also changes all jobs, and manages members, secrets and data"

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role, default=Role.MEMBER)
    from_provider = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="True: a group of the identity provider gave it, and takes it.",
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("team", "user"), name="one_role_per_team"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.team}"
