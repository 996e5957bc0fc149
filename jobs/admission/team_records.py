"""By which records of its team is a spec judged? Each kind is read once for all specs of a call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from storage.data import sources
from storage.models import CodeSnapshot, DataSource, HeldCheckpoint
from tenancy import image_rules
from tenancy.access.token_bounds import TokenBounds
from tenancy.models import FairShareSettings, Quota, Secret, Team
from tenancy.queries import TeamsWithLimits

from jobs.admission.dependencies.naming import CallNames, JobsOfTeam
from jobs.admission.rules import line
from jobs.admission.rules.line import RulesOfLine
from jobs.notification_targets import TARGETS
from jobs.spec.parts.beginnings import StartFrom


class TeamRecords:
    """What a team has, read when it is first asked for: most specs need little of it."""

    def __init__(
        self,
        team: Team,
        names: CallNames | None = None,
        rules: RulesOfLine | None = None,
        bounds: TokenBounds | None = None,
    ) -> None:
        self.team = team
        self.bounds = bounds  # of the token that asks: it names no other jobs
        self.rules = line.read(team) if rules is None else rules
        self.named_jobs = JobsOfTeam(team, names or CallNames(), bounds)  # for which specs wait
        # What was looked up for specs so far: what each means, and what is to be held for it.
        self.starts: dict[str, tuple[StartFrom, HeldCheckpoint]] = {}

    @cached_property
    def gpu_limits(self) -> Mapping[int, int | None]:
        """Its `limit_gpus`, by pool."""
        return dict(Quota.objects.filter(team=self.team).values_list("pool_id", "limit_gpus"))

    @cached_property
    def gpus_per_user(self) -> tuple[int, Team] | None:
        """Return how many GPUs one user's jobs may hold, and which team says so; None: any."""
        return TeamsWithLimits.read().gpus_per_user(self.team.pk)

    @cached_property
    def secrets(self) -> Mapping[str, Secret]:
        """Return them by name."""
        return {secret.name: secret for secret in Secret.objects.filter(team=self.team)}

    @cached_property
    def code_digests(self) -> Collection[str]:
        """Return those of the snapshots of code that it keeps."""
        return set(CodeSnapshot.objects.filter(team=self.team).values_list("digest", flat=True))

    @cached_property
    def data_sources(self) -> Mapping[str, DataSource]:
        """What its jobs may use, by name."""
        return {source.name: source for source in sources.of_team(self.team)}

    @cached_property
    def image_patterns(self) -> Sequence[str]:
        return image_rules.patterns_of(self.team)

    @cached_property
    def notification_targets(self) -> Collection[str]:
        """Return the names of whoever is told of its jobs."""
        return TARGETS.of(self.team)

    @cached_property
    def fair_share(self) -> Mapping[int, FairShareSettings]:
        """Return how every pool is shared, by pool."""
        return FairShareSettings.by_pool()
