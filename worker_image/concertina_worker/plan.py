"""Which workers train together, with which batch? One numbered, immutable `GenerationPlan`.

The coordinator authors plans; workers carry out the newest they know. Standard library only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationPlan:
    """One generation: a fixed set of workers and one global batch.

    A plan is *agreed* when the members of the running generation are healthy: they switch after
    the same step, and `source` hands its state to `joiners` while the next step runs. A plan
    `is_recovery` when they may not be (or none runs yet): every member drops the group it has,
    they build a new one, and whoever is behind copies from whoever is furthest.
    """

    generation: int
    members: tuple[str, ...]  # in rank order; empty: everybody leaves
    joiners: tuple[str, ...]  # members without state
    is_recovery: bool
    global_batch_size: int
    batch_limit: int | None = None  # more samples did not fit a worker at once; None: not known
    revision: int  # newest desired revision that this plan fulfils
    timeout_seconds: float  # a collective that takes longer has failed
    holders: tuple[str, ...] = ()  # whose rows of a sharded model move at this switch, in order

    @property
    def stayers(self) -> tuple[str, ...]:
        """Members that compute from the first step on: all that have state.

        Parts of a sharded model are where they belong before that step.
        """
        if self.is_recovery or self.holders:
            return self.members
        return tuple(member for member in self.members if member not in self.joiners)

    @property
    def source(self) -> str | None:
        """Return whose state the joiners copy; never a joiner itself."""
        return self.stayers[0] if self.joiners and not self.is_recovery else None

    @property
    def participants(self) -> tuple[str, ...]:
        """Members, then those who leave, if the rows that they hold are to go elsewhere."""
        if not self.members:
            return ()
        return self.members + tuple(one for one in self.holders if one not in self.members)

    def to_json(self) -> dict[str, Any]:
        """Leave out what workers of an earlier release do not know, where it says nothing."""
        document = asdict(self)
        if not self.holders:
            del document["holders"]
        return document

    @classmethod
    def from_json(cls, document: dict[str, Any]) -> GenerationPlan:
        return cls(
            **{
                **document,
                "members": tuple(document["members"]),
                "joiners": tuple(document["joiners"]),
                "holders": tuple(document.get("holders", ())),
            }
        )
