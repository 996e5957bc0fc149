"""In which pools, and with which labels, are the jobs that a token reaches?"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from django.db.models import Q

from tenancy.access.permissions import Permission
from tenancy.models import TokenScope

MOST_POOLS: Final = 20
MOST_LABELS: Final = 10
JOB_SCOPES: Final = (TokenScope.READ, TokenScope.SUBMIT, TokenScope.MANAGE_JOBS)
"""Those that a limited token may have: what the others let through is about more than jobs."""
OF_JOBS: Final = frozenset(
    {
        Permission.SEE,
        Permission.SUBMIT,
        Permission.CHANGE_OWN_JOBS,
        Permission.CHANGE_ALL_JOBS,
    }
)
"""What it lets through, whatever its scopes say: models are of jobs that it may not see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenBounds:
    """A job is reached if it is in one of the pools and has all of the labels. None: any."""

    pools: tuple[str, ...] = ()
    labels: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls, pools: Collection[str] | None, labels: Mapping[str, str] | None
    ) -> TokenBounds | None:
        """Return the bounds that a token's row has; None: it has none."""
        if not pools and not labels:
            return None
        return cls(
            pools=tuple(sorted(set(pools or ()))), labels=tuple(sorted((labels or {}).items()))
        )

    def hold(self, pool: str, labels: Mapping[str, str]) -> bool:
        """True if a job of this pool with these labels is reached."""
        is_in_pool = not self.pools or pool in self.pools
        return is_in_pool and all(labels.get(name) == value for name, value in self.labels)

    def condition(self) -> Q:
        """Return the same as a condition on rows of jobs."""
        in_pools = Q(pool__name__in=self.pools) if self.pools else Q()
        return in_pools & Q(labels__contains=dict(self.labels)) if self.labels else in_pools

    def __str__(self) -> str:
        """Write them as in `jobs in pool a100 or h100 with label project=digits`."""
        pools = f" in pool {' or '.join(self.pools)}" if self.pools else ""
        named = " and ".join(f"{name}={value}" for name, value in self.labels)
        word = "label" if len(self.labels) == 1 else "labels"
        return f"jobs{pools}{f' with {word} {named}' if named else ''}"
