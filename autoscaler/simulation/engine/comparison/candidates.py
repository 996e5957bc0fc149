"""What is compared with what? Clusters with their policies, each under a name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autoscaler.simulation.engine.replay.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A cluster with its policies, under the name it has in tables and plots."""

    label: str
    settings: Settings

    @property
    def gpus(self) -> int:
        return sum(node.gpus for pool in self.settings.pools for node in pool.nodes)


def candidates(settings: Settings, policies: Iterable[str]) -> tuple[Candidate, ...]:
    """The same cluster once for each policy, which all of its pools then have."""
    return tuple(
        Candidate(
            label=policy,
            settings=replace(
                settings, pools=tuple(replace(pool, policy=policy) for pool in settings.pools)
            ),
        )
        for policy in policies
    )
