"""Which policies does this installation have? Those of Concertina, and those of its extensions.

An extension is any installed distribution with entry points in the group `concertina.policies`,
each naming a class that inherits from `autoscaler.planning.policies.Policy`.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib.metadata import entry_points
from typing import Final

from autoscaler.planning.policies import BUILT_IN, Catalogue

ENTRY_POINT_GROUP: Final = "concertina.policies"

_log = logging.getLogger(__name__)


@cache
def installed_policies() -> Catalogue:
    """Found once per process. An extension that cannot be used is logged and left out."""
    catalogue = BUILT_IN
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            catalogue = catalogue.joined([entry.load()])
        except Exception:  # noqa: BLE001 - somebody else's code: whatever it does, the others are still there
            extra = {"action": "load_policy", "policy": entry.name}
            _log.exception("Policy %s of %s cannot be used.", entry.name, entry.value, extra=extra)
    return catalogue
