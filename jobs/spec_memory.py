"""What was read of a job's stored spec before? The same again, as long as it is stored the same.

To check a spec costs more than all else that is asked of a job that only waits, and a stored one
hardly ever changes. So a queue of hundreds costs a tick little.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from typing import Final

from jobs import stored_spec
from jobs.stored_spec import StoredSpec

MOST_KNOWN: Final = 1000  # guessed: some 60 MB if all were as long as may be


class SpecMemory:
    """Readings of stored specs, by job; those that were asked for least lately are forgotten."""

    def __init__(self, most: int = MOST_KNOWN) -> None:
        self._most = most
        self._known: OrderedDict[str, tuple[str, StoredSpec]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._known)

    def read(self, job_id: str, text: str) -> StoredSpec:
        """Read a job's `resolved_spec`, as the database writes it, or remember what was read."""
        known = self._known.get(job_id)
        if known is None or known[0] != text:
            known = (text, stored_spec.read(json.loads(text)))
            self._known[job_id] = known
        self._known.move_to_end(job_id)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return known[1]
