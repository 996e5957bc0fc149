"""Which nodes does the service have in the Ray cluster, and with how many GPUs? Their rows tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import InterfaceError, OperationalError, connection

from cluster.models import Node
from cluster.worker_host import HostUnavailable


@dataclass(slots=True, kw_only=True)
class NodeRows:
    """Asked again and again, by several threads; an admin may change a node at any time."""

    _last: Mapping[str, int] | None = None  # nobody told yet

    def __call__(self) -> Mapping[str, int]:
        """GPUs, or slots, by name; while the database is away, as it was told before.

        Raises:
            HostUnavailable: it was never told; that there are no nodes would be another answer.
        """
        rows = Node.objects.filter(is_released=False)  # what was given back is leased no more
        try:
            self._last = dict(rows.values_list("name", "gpus"))
        except (OperationalError, InterfaceError) as problem:
            if connection.in_atomic_block:
                raise
            connection.close()
            if self._last is None:
                raise HostUnavailable(f"The nodes are not known yet: {problem}") from problem
        return self._last
