"""What can a client ask about teams? Each is a property, with questions of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from concertina.connection.questions.gpu_prices import GpuPrices
from concertina.connection.questions.quota_replays import QuotaPreviews, QuotaPrices
from concertina.connection.questions.schedules import Schedules
from concertina.connection.questions.setups import WholeSetups
from concertina.connection.questions.simulations import Simulations
from concertina.connection.questions.size_advice import SizeAdvices
from concertina.connection.questions.specs.rules import RulesOfTeams
from concertina.connection.questions.specs.templates import JobTemplates
from concertina.connection.questions.trials.sweeps import Sweeps
from concertina.connection.team.audit import AuditLog
from concertina.connection.team.gpu_hours import GpuHours
from concertina.connection.team.keeping import Keeping
from concertina.connection.team.limits import LimitsOfTeams
from concertina.connection.team.members import TeamMembers
from concertina.connection.team.networks import TeamNetworks
from concertina.connection.team.quotas import TeamQuotas
from concertina.connection.team.secrets import TeamSecrets
from concertina.connection.team.tokens import TeamTokens
from concertina.connection.team.webhooks import Webhooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from concertina.connection.connection import Send
    from concertina.connection.retrying import Clock


class _Asks(Protocol):
    @property
    def _send(self) -> Send: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def _of_team(self) -> Callable[[str | None], str]:
        """Returns the path of a team; by default of the token's own."""
        ...


class TeamQuestions:
    """What a client has for teams."""

    @property
    def audit(self: _Asks) -> AuditLog:
        """Ask who did what, and who was refused."""
        return AuditLog(self._send)

    @property
    def gpu_hours(self: _Asks) -> GpuHours:
        """Ask who used, lent and borrowed how much GPU time."""
        return GpuHours(self._send, self._of_team)

    @property
    def gpu_prices(self: _Asks) -> GpuPrices:
        """What a GPU-hour of each pool costs, each price from a day on."""
        return GpuPrices(self._send)

    @property
    def keeping(self: _Asks) -> Keeping:
        """Ask for how long jobs, and parts of them, are kept."""
        return Keeping(self._send, self._of_team)

    @property
    def limits(self: _Asks) -> LimitsOfTeams:
        """The limits of running jobs, and of the GPU-hours of a month."""
        return LimitsOfTeams(self._send, self._of_team)

    @property
    def members(self: _Asks) -> TeamMembers:
        """The people of teams, with their roles."""
        return TeamMembers(self._send, self._of_team)

    @property
    def networks(self: _Asks) -> TeamNetworks:
        """What the jobs of teams may reach."""
        return TeamNetworks(self._send, self._of_team)

    @property
    def quotas(self: _Asks) -> TeamQuotas:
        """What teams may use of each pool."""
        return TeamQuotas(self._send, self._of_team)

    @property
    def quota_previews(self: _Asks) -> QuotaPreviews:
        """What other quotas would have meant for the recent past."""
        return QuotaPreviews(self._send, self.clock)

    @property
    def quota_prices(self: _Asks) -> QuotaPrices:
        """What a GPU more or less is worth to a team."""
        return QuotaPrices(self._send, self.clock)

    @property
    def rules(self: _Asks) -> RulesOfTeams:
        """What teams say of the specs of their jobs."""
        return RulesOfTeams(self._send, self._of_team)

    @property
    def templates(self: _Asks) -> JobTemplates:
        """Parts of specs that jobs of teams may begin with."""
        return JobTemplates(self._send, self._of_team)

    @property
    def schedules(self: _Asks) -> Schedules:
        """What teams have submitted again and again."""
        return Schedules(self._send, self._of_team)

    @property
    def secrets(self: _Asks) -> TeamSecrets:
        """What only the jobs of teams may know."""
        return TeamSecrets(self._send, self._of_team)

    @property
    def setups(self: _Asks) -> WholeSetups:
        """All that admins set up, as one document."""
        return WholeSetups(self._send)

    @property
    def simulations(self: _Asks) -> Simulations:
        """What another policy, another workload or more GPUs would mean."""
        return Simulations(self._send, self.clock)

    @property
    def size_advice(self: _Asks) -> SizeAdvices:
        """Advice about how many workers jobs needed."""
        return SizeAdvices(self._send)

    @property
    def sweeps(self: _Asks) -> Sweeps:
        """Trials of one spec, of which the best are searched."""
        return Sweeps(self._send)

    @property
    def tokens(self: _Asks) -> TeamTokens:
        """The keys of teams' programs."""
        return TeamTokens(self._send, self._of_team)

    @property
    def webhooks(self: _Asks) -> Webhooks:
        """The addresses that are told what happens to jobs."""
        return Webhooks(self._send, self._of_team)
