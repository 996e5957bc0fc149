"""Which teams, pools and nodes are there? Read once for all jobs.

Thousands of workers sit on hundreds of nodes and belong to a few teams: to read these rows with
each of them took longer than all else about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import cached_property

from cluster.models import Node, Pool
from tenancy.models import Quota, Team, TeamLimits
from tenancy.queries import TeamsWithLimits

from autoscaler.team_budget import TeamBudget
from jobs.models import Job


class ClusterRecords:
    """Teams, pools and nodes as they were when somebody first looked at them."""

    @cached_property
    def tree(self) -> TeamsWithLimits:
        return TeamsWithLimits.read()

    @property
    def teams(self) -> Mapping[int, Team]:
        """Return them with their limits."""
        return self.tree.teams

    @cached_property
    def teams_with_limits(self) -> Mapping[int, TeamLimits]:
        """Return the limits of those that have any, by the team's id."""
        found = ((key, getattr(team, "limits", None)) for key, team in self.teams.items())
        return {key: limits for key, limits in found if limits is not None}

    def used_up_budget(self, team_id: int, now: datetime) -> TeamBudget | None:
        """Return one of the team or of one above that is used up: one that pauses, if any."""
        known = self.teams_with_limits
        budgets = [
            budget
            for team in (self.tree.line(team_id) if known else ())
            if team.pk in known
            and (budget := known[team.pk].budget(team.name, now)) is not None
            and budget.is_used_up
        ]
        return max(budgets, key=lambda one: one.pauses, default=None)

    @cached_property
    def pools(self) -> Mapping[int, Pool]:
        """Return them with their settings."""
        return Pool.objects.select_related("fair_share").in_bulk()

    def other_pools(self, job: Job, names: Iterable[str]) -> tuple[Pool, ...]:
        """Return those of these names in which a job may start instead of the one where it is.

        One that was deleted is not there, nor one that serves another team alone by now.
        """
        found = (self._pools_by_name.get(name) for name in names)
        others = (pool for pool in found if pool is not None and pool.pk != job.pool_id)
        return tuple(pool for pool in others if self._serves(pool, job.team_id))

    def _serves(self, pool: Pool, team_id: int) -> bool:
        """Tell it as whoever admits jobs does: a team that is alone here needs no quota."""
        if not pool.why_for_one_team or (pool.pk, team_id) in self._with_quotas:
            return True
        return len(self.teams) == 1

    @cached_property
    def _with_quotas(self) -> Collection[tuple[int, int]]:
        """Return which teams have a quota in which pools."""
        return set(Quota.objects.values_list("pool_id", "team_id"))

    @cached_property
    def nodes(self) -> Mapping[int, Node]:
        return Node.objects.in_bulk()

    def find_node(self, name: str) -> Node | None:
        """Return it, also if it came since the others were read; None: there is none."""
        known = self._nodes_by_name.get(name)
        return Node.objects.filter(name=name).first() if known is None else known

    def node(self, name: str) -> Node:
        """Return it. Raises: Node.DoesNotExist."""
        if (found := self.find_node(name)) is None:
            raise Node.DoesNotExist(name)
        return found

    def share_of_machine(self, node: Node, gpus: int) -> float:
        """Return the part of its machine that so many GPUs stand for; it may have several nodes."""
        of_machine = self._gpus_by_host.get(node.host_url)
        return node.share_of_machine(gpus) if of_machine is None else gpus / of_machine

    @cached_property
    def _pools_by_name(self) -> Mapping[str, Pool]:
        return {pool.name: pool for pool in self.pools.values()}

    @cached_property
    def _nodes_by_name(self) -> Mapping[str, Node]:
        return {node.name: node for node in self.nodes.values()}

    @cached_property
    def _gpus_by_host(self) -> Mapping[str, int]:
        counted: Counter[str] = Counter()
        for node in self.nodes.values():
            counted[node.host_url] += node.gpus
        return counted
