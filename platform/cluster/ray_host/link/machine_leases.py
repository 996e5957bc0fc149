"""Which machines have we asked Ray for? Pending leases, one each, that its autoscaler brings.

A lease that no machine has room for is what Ray's autoscaler acts upon. It is a detached placement
group whose name bears the request's number, so that whoever asks again, after any of us died, finds
it instead of asking twice: Ray takes a name once. On machines that are there it is not placed: they
may have GPUs left that are not ours. Once it is placed its machine has come; the service writes
that down, and then wants it no more, so that the node's own lease takes its place.

Ray's head is asked in the background, for nobody waits for it.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ray.util import (
    get_placement_group,
    placement_group,
    placement_group_table,
    remove_placement_group,
)

from cluster.ray_host.link.membership import Members

_NODE_ID: Final = "ray.io/node-id"
_ASKED: Final = "asked"
_LOOK_AGAIN_SECONDS: Final = 60.0  # guessed: a link that slept may ask late for what nobody wants

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class MachineLeases:
    """Those of one installation, by the name that the service gives each request."""

    installation: str
    members: Callable[[], Members | None]  # as the head said last
    clock: Callable[[], float] = time.monotonic
    _wanted: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    _placed: Mapping[str, str] = field(default_factory=dict)  # names of requests, and ids of Ray
    _settled_until: float = 0.0  # nothing was there at the last look, or wanted; then look again
    _is_busy: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, wanted: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """Have exactly these, soon; return the machines of those that have one by now."""
        with self._lock:
            self._wanted = dict(wanted)
            placed = {name: ray_id for name, ray_id in self._placed.items() if name in wanted}
            is_settled = not wanted and self.clock() < self._settled_until
            begins = not self._is_busy and not is_settled
            self._is_busy = self._is_busy or begins
        if begins:
            threading.Thread(target=self._go_on, name="machines", daemon=True).start()
        members = self.members()
        nodes = () if members is None else members.alive
        names = {node.ray_id: node.name for node in nodes}
        return {name: names[ray_id] for name, ray_id in placed.items() if ray_id in names}

    def _go_on(self) -> None:
        placed, is_settled = None, False
        try:
            placed, is_settled = self._made_so()
        except Exception as problem:  # noqa: BLE001 - Ray's own, of many classes: tried again
            _log.warning("Ray was not asked for machines: %s", problem)
        with self._lock:
            self._is_busy = False
            again = self.clock() + _LOOK_AGAIN_SECONDS
            self._settled_until = again if is_settled else 0.0
            if placed is not None:
                self._placed = placed

    def _made_so(self) -> tuple[dict[str, str], bool]:
        """Return where each is that has a machine, and whether nothing was there or wanted."""
        prefix = f"{self.installation}/{_ASKED}/"
        there = {
            row["name"].removeprefix(prefix): row
            for row in placement_group_table().values()
            if row["state"] != "REMOVED" and row["name"].startswith(prefix)
        }
        with self._lock:
            wanted = self._wanted
        for name in there.keys() - wanted.keys():
            with contextlib.suppress(ValueError):  # it has gone
                remove_placement_group(get_placement_group(prefix + name))
        members = self.members()
        if members is not None:
            known = [node.ray_id for node in members.alive]
            for name in wanted.keys() - there.keys():
                try:
                    _ask(prefix + name, wanted[name], known=known)
                except Exception as problem:  # noqa: BLE001 - Ray's own: others are asked for
                    _log.warning("Ray was not asked for %s: %s", name, problem)
        placed = {
            name: row["bundles_to_node_id"][0]
            for name, row in there.items()
            if name in wanted and row["state"] == "CREATED"
        }
        return placed, not (there or wanted)


def _ask(name: str, wanted: Mapping[str, Any], *, known: Collection[str]) -> None:
    labels = {**wanted["labels"], _NODE_ID: f"!in({','.join(sorted(known))})"}
    placement_group(
        [wanted["bundle"]], name=name, lifetime="detached", bundle_label_selector=[labels]
    )
