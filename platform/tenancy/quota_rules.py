"""Which guarantees and limits go together in a pool? Promised GPUs must exist.

Written on plain numbers, so that one quota, a form with many, and the command line are checked by
the same rules. A team's settings hold for its own jobs and all teams below it; a parent without a
guarantee of its own promises what its children are promised, and no more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What one team is given of a pool, in GPUs."""

    guaranteed: int = 0
    limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaProblem:
    """A rule that is broken: at which field, and what would be right."""

    field: str
    message: str


def problems_of(
    team: str,
    settings: Mapping[str, Setting],
    parents: Mapping[str, str | None],
    *,
    gpus: int | None,
) -> Iterator[QuotaProblem]:
    """Find what is wrong with the settings of `team`, given those of all others in the pool.

    `gpus`: None: as many as a cluster has now, which is no bound for what is promised.
    """
    yield from _problems_alone(team, settings[team])
    tree = PromiseTree(settings, parents)
    yield from _promises_to_children(team, tree)
    yield from _promises_of_parent(team, tree)
    if gpus is not None:
        yield from _pool_is_large_enough(team, tree, gpus)


def problems_of_all(tree: PromiseTree) -> Iterator[tuple[str, QuotaProblem]]:
    """Find what is wrong with all settings of a pool, by team, whatever the pool's size."""
    for team, own in tree.settings.items():
        for problem in (
            *_problems_alone(team, own),
            *_promises_to_children(team, tree),
            *_promises_of_parent(team, tree),
        ):
            yield team, problem


@dataclass(frozen=True, slots=True)
class PromiseTree:
    """What all teams of a pool are promised; each team's sum is made once. No circle of parents."""

    settings: Mapping[str, Setting]
    parents: Mapping[str, str | None]
    _children: dict[str, list[str]] = field(default_factory=dict)
    _promised: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        children: defaultdict[str, list[str]] = defaultdict(list)
        for child, above in self.parents.items():
            if above is not None:
                children[above].append(child)
        self._children.update(children)

    def promised(self, team: str) -> int:
        """Return the guarantee of a whole subtree."""
        if team not in self._promised:
            own = self.settings.get(team, Setting()).guaranteed
            self._promised[team] = max(own, self.promised_below(team))
        return self._promised[team]

    def promised_below(self, team: str, *, without: str | None = None) -> int:
        """Return the guarantees of the teams below, one left out if it is named."""
        below = self._children.get(team, ())
        return sum(self.promised(child) for child in below if child != without)

    @property
    def total(self) -> int:
        """What all teams of the pool are guaranteed together; a child's is in its parent's."""
        roots = {_top(team, self.parents) for team in self.settings}
        return sum(self.promised(root) for root in roots)


def promised_by_the_team_above(
    team: str, settings: Mapping[str, Setting], parents: Mapping[str, str | None]
) -> QuotaProblem | None:
    """Find what a lead may not do who divides a guarantee: to promise more of it than there is.

    An admin may: then the pool has to have it, and the team above is promised what those below are.
    """
    parent = parents.get(team)
    if parent is None:
        return None
    tree = PromiseTree(settings, parents)
    has = settings.get(parent, Setting()).guaranteed
    others = tree.promised_below(parent, without=team)
    if others + tree.promised(team) <= has:
        return None
    return QuotaProblem(
        field="guaranteed_gpus",
        message=f"Team {parent} is guaranteed {has} GPUs, of which {others} are guaranteed to other"
        f" teams below it. Guarantee at most {max(has - others, 0)}, or ask an admin.",
    )


def problem_of_second_team(
    team: str, others: Collection[str], *, why_for_one_team: str
) -> QuotaProblem | None:
    """Find that a pool for one team would serve a second one.

    `others`: teams with quotas there, or with jobs that have not ended.
    """
    if not why_for_one_team or not set(others) - {team}:
        return None
    first = ", ".join(sorted(set(others) - {team}))
    return QuotaProblem(
        field="pool",
        message=f"The pool serves one team, and {first} has a quota there, or jobs that have not"
        f" ended: {why_for_one_team}. Use a pool of its own for each team; or let an admin tick"
        " teams_trust_each_other on the pool if any job of one may read what the others' have"
        " there.",
    )


def trust_needed(teams: Sequence[str], why: str) -> str:
    """Say why it has to stay said that teams of a pool trust each other, and what to do instead."""
    return (
        f"Teams {', '.join(teams)} have quotas in this pool, or jobs that have not ended, and"
        f" {why}. Let one of them keep its quota there, and end the others' jobs; or let this be"
        " ticked."
    )


def total_promised(settings: Mapping[str, Setting], parents: Mapping[str, str | None]) -> int:
    """Return what all teams of the pool are guaranteed together; a child's is in its parent's."""
    return PromiseTree(settings, parents).total


def _problems_alone(team: str, own: Setting) -> Iterator[QuotaProblem]:
    if own.limit is not None and own.limit < own.guaranteed:
        yield QuotaProblem(
            field="limit_gpus",
            message=f"The limit ({own.limit}) is below the guarantee ({own.guaranteed})."
            " Raise it, or leave it empty.",
        )
    if own.lending_limit is not None and own.lending_limit > own.guaranteed:
        yield QuotaProblem(
            field="lending_limit_gpus",
            message=f"Team {team} has {own.guaranteed} guaranteed GPUs to lend, not"
            f" {own.lending_limit}. Lower it, or leave it empty to lend all.",
        )


def _promises_to_children(team: str, tree: PromiseTree) -> Iterator[QuotaProblem]:
    own, below = tree.settings[team], tree.promised_below(team)
    if 0 < own.guaranteed < below:
        yield QuotaProblem(
            field="guaranteed_gpus",
            message=f"The teams below {team} are guaranteed {below} GPUs. Guarantee {team} at"
            " least as many, or 0 to let theirs count.",
        )
    if own.limit is not None and own.limit < below:
        yield QuotaProblem(
            field="limit_gpus",
            message=f"The teams below {team} are guaranteed {below} GPUs. Its limit must be at"
            " least that, or empty.",
        )


def _promises_of_parent(team: str, tree: PromiseTree) -> Iterator[QuotaProblem]:
    parent = tree.parents.get(team)
    above = tree.settings.get(parent) if parent is not None else None
    if parent is None or above is None:
        return
    siblings, own = tree.promised_below(parent, without=team), tree.promised(team)
    for most, what in ((above.guaranteed or None, "guaranteed"), (above.limit, "limited to")):
        if most is not None and siblings + own > most:
            yield QuotaProblem(
                field="guaranteed_gpus",
                message=f"Its parent {parent} is {what} {most} GPUs, of which {siblings} are"
                f" guaranteed to other teams below it. Guarantee at most"
                f" {max(most - siblings, 0)}.",
            )


def _pool_is_large_enough(team: str, tree: PromiseTree, gpus: int) -> Iterator[QuotaProblem]:
    total = tree.total
    if total > gpus:
        elsewhere = max(total - tree.settings[team].guaranteed, 0)
        yield QuotaProblem(
            field="guaranteed_gpus",
            message=f"The pool has {gpus} GPUs, of which {elsewhere} are guaranteed to other"
            f" teams. Guarantee at most {max(gpus - elsewhere, 0)}.",
        )


def _top(team: str, parents: Mapping[str, str | None]) -> str:
    while (above := parents.get(team)) is not None:
        team = above
    return team
