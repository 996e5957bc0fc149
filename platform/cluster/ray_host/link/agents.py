"""Who is our agent on a node? A detached actor in the node's lease, found by its name or made.

The *lease* is a detached placement group of one bundle, pinned to the node: all GPUs that the
service has there, or processors where it has slots. It outlives the agent, so that nobody else gets
the GPUs of processes that outlive it, too; and Ray's autoscaler takes no node that has one for
idle. A node that comes back bears a new id of Ray and gets a new lease and a new agent. What was
for an id that is gone would wait for it for ever, and what is for a node that the service does not
have any more would keep GPUs from others: both are given back.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
import time
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import ray
from ray.util import (
    get_placement_group,
    list_named_actors,
    placement_group,
    placement_group_table,
    remove_placement_group,
)
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

from cluster.ray_host import wire
from cluster.ray_host.agent import Agent
from cluster.ray_host.link.membership import RayNode

_LEASE_SECONDS: Final = 20.0  # guessed: it takes milliseconds, or somebody else has the GPUs
_HELLO_SECONDS: Final = 60.0  # a worker of Ray starts and loads our code: seconds
_FIND_SECONDS: Final = 1.0  # guessed: it takes 0.1 s
_AGAIN_SECONDS: Final = 2.0  # after it could not be made
_AT_ONCE: Final = 16  # calls of one agent: starts wait for supervisors
_ID_DIGITS: Final = 16
_OOM_SCORE: Final = 500  # as containers have; Ray gives its workers 1000, and these to children

_log: Final = logging.getLogger(__name__)


class NoAgent(Exception):
    """A node has no agent, for this reason."""


@dataclass(slots=True)
class _Post:
    """The place of one agent, filled or not."""

    handle: Any = None
    why_not: str = wire.BEING_STARTED
    not_before: float = 0.0
    is_being_made: bool = False
    slots: int | None = None  # of the lease in which it is


@dataclass(slots=True, kw_only=True)
class Agents:
    """Those of one installation. Making one takes seconds, and is done in the background."""

    installation: str
    node_dir: str
    asked_of_nodes: Mapping[str, Any]  # what each has to have for jobs to run there
    only_looks: bool = False  # makes, replaces and gives back nothing
    _posts: dict[tuple[str, str], _Post] = field(default_factory=dict)
    _kept: frozenset[str] | None = None  # names of leases and agents; None: not tidied yet
    _is_tidying: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, names: Collection[str], alive: Iterable[RayNode]) -> None:
        """Give back, in the background, what is for nodes of other names, or for none that lives.

        What runs there goes on. Costs nothing while these stay the same.
        """
        nodes = [node for node in alive if node.name in names]
        kept = frozenset(map(self._name, nodes))
        with self._lock:
            is_new, self._kept = kept != self._kept, kept
            if is_new:
                keys = set(map(_key, nodes))
                self._posts = {key: post for key, post in self._posts.items() if key in keys}
            if not is_new or self._is_tidying:
                return
            self._is_tidying = True
        threading.Thread(target=self._tidy, name="tidy", daemon=True).start()

    def seek(self, wanted: Mapping[RayNode, int | None]) -> None:
        """Begin to find or make the agents of these nodes, each with so many slots.

        None: nobody has said how many yet, so that an agent is found only where there is one.
        Waits a moment for those that it begins with: finding one that is there takes little.
        """
        with self._lock:
            begun = [
                thread for node, slots in wanted.items() if (thread := self._begun(node, slots))
            ]
        give_up_at = time.monotonic() + _FIND_SECONDS
        for thread in begun:
            thread.join(max(give_up_at - time.monotonic(), 0.0))

    def of(self, node: RayNode) -> Any:
        """Return the agent of a node.

        Raises:
            NoAgent: it is being made, or cannot be.
        """
        with self._lock:
            post = self._posts.get(_key(node), _Post())
        if post.handle is None:
            raise NoAgent(post.why_not)
        return post.handle

    def _begun(self, node: RayNode, slots: int | None) -> threading.Thread | None:
        post = self._posts.setdefault(_key(node), _Post())
        is_put_off = time.monotonic() < post.not_before
        is_other = slots is not None and post.slots not in {slots, None}
        if (post.handle is not None and not is_other) or post.is_being_made or is_put_off:
            return None
        if is_other:
            post.handle, post.why_not = None, "its GPUs are another number now, and leased anew"
        post.is_being_made = True
        thread = threading.Thread(target=self._fill, args=(post, node, slots), daemon=True)
        thread.start()
        return thread

    def lost(self, node: RayNode) -> None:
        """Note that an agent is gone for good, so that another is made."""
        with self._lock:
            self._posts.pop(_key(node), None)

    def _fill(self, post: _Post, node: RayNode, slots: int | None) -> None:
        handle, why_not = None, ""
        try:
            handle = self._made(node, slots)
        except NoAgent as problem:
            why_not = str(problem)
        except Exception as problem:  # noqa: BLE001 - Ray's own, of many classes: told, tried again
            why_not = f"its agent cannot be started: {type(problem).__name__}: {problem}"[:500]
        with self._lock:
            post.handle, post.is_being_made, post.slots = handle, False, slots
            post.why_not, post.not_before = why_not, time.monotonic() + _AGAIN_SECONDS
        if not self.only_looks and self._is_unwanted(self._name(node)):
            self._undo()

    def _undo(self) -> None:
        """Give back what was made for a node that was given up meanwhile, after it was tidied."""
        try:
            self._give_back()
        except Exception as problem:  # noqa: BLE001 - Ray's own, of many classes
            _log.warning("What nobody wants is kept until nodes change: %s", problem)

    def _found(self, node: RayNode) -> Any:
        """Return the agent that is there, and leave all as it is."""
        name = self._name(node)
        try:
            handle, lease = ray.get_actor(name), get_placement_group(name)
        except ValueError:
            raise NoAgent(wire.NOT_LOOKED_AT) from None
        self._check(handle, node, lease)
        return handle

    def _made(self, node: RayNode, slots: int | None) -> Any:
        if self.only_looks:
            return self._found(node)
        lease = self._lease(node, slots)
        name = self._name(node)
        gpus = _gpus_of(lease)
        handle = (
            ray.remote(Agent)
            .options(
                name=name,
                lifetime="detached",
                get_if_exists=True,
                num_cpus=0,
                num_gpus=gpus,
                max_restarts=-1,
                max_concurrency=_AT_ONCE,
                runtime_env={"env_vars": {"RAY_worker_niceness": "0"}},
                scheduling_strategy=PlacementGroupSchedulingStrategy(
                    lease, placement_group_bundle_index=0
                ),
            )
            .remote(node.name, f"{self.node_dir}/{self.installation}/{node.name}", _OOM_SCORE)
        )
        self._check(handle, node, lease)
        return handle

    def _check(self, handle: Any, node: RayNode, lease: Any) -> None:
        """Raises: NoAgent, if it is of another release, or its node is not fit for jobs."""
        leased = _gpus_of(lease)
        gpus = {"wanted": leased, "in_ray": node.gpus} if leased else None
        hello = wire.question("hello", **self.asked_of_nodes, gpus=gpus)
        hello_answer = json.loads(ray.get(handle.ask.remote(hello), timeout=_HELLO_SECONDS))
        if "unavailable" in hello_answer:
            raise NoAgent(hello_answer["unavailable"])
        if hello_answer["answer"]["version"] < wire.VERSION:  # of the release before
            if self.only_looks:
                raise NoAgent("its agent is of the release before this one")
            ray.kill(handle, no_restart=True)  # ours takes over
            raise NoAgent("its agent is of the release before and is being replaced")
        if why_unfit := hello_answer["answer"]["why_unfit"]:
            raise NoAgent(why_unfit)

    def _lease(self, node: RayNode, slots: int | None) -> Any:
        name = self._name(node)
        lease = self._kept_lease(node, slots)
        if lease is None:
            if slots is None:
                raise NoAgent(wire.NOT_LOOKED_AT)
            lease = placement_group(
                [_bundle(node, slots)],
                name=name,
                lifetime="detached",
                bundle_label_selector=[{"ray.io/node-id": node.ray_id}],
            )
        if not lease.wait(_LEASE_SECONDS):
            wanted = dict(lease.bundle_specs[0])
            remove_placement_group(lease)
            raise NoAgent(
                f"Ray does not lease us {wanted} there: others of the cluster have"
                " some of it. Wait for them, or lower the node's GPUs"
            )
        return lease

    def _kept_lease(self, node: RayNode, slots: int | None) -> Any:
        """Return the lease that is there; None: there is none of what is wanted, any more.

        One of another size goes with its agent; what runs there goes on, for the next to find.
        """
        name = self._name(node)
        try:
            lease = get_placement_group(name)
        except ValueError:
            return None
        if slots is None or lease.bundle_specs[0] == _bundle(node, slots):
            return lease
        with contextlib.suppress(ValueError):  # it has none
            ray.kill(ray.get_actor(name), no_restart=True)
        remove_placement_group(lease)
        return None

    def _name(self, node: RayNode) -> str:
        return f"{self.installation}:{node.name}:{node.ray_id[:_ID_DIGITS]}"

    def _tidy(self) -> None:
        """Go on until all is as it was wanted last; a failure waits for the next look."""
        while True:
            with self._lock:
                kept = self._kept
            try:
                self._give_back()
            except Exception as problem:  # noqa: BLE001 - Ray's own, of many classes: tried again
                _log.warning("What nobody wants is kept yet: %s", problem)
                time.sleep(_AGAIN_SECONDS)
                kept = None
            with self._lock:
                if kept in {None, self._kept}:
                    self._kept, self._is_tidying = kept, False
                    return

    def _give_back(self) -> None:
        for name in filter(self._is_unwanted, list_named_actors()):
            with contextlib.suppress(ValueError):  # somebody else was quicker
                ray.kill(ray.get_actor(name), no_restart=True)
        for row in placement_group_table().values():
            if row["state"] != "REMOVED" and self._is_unwanted(row["name"]):
                with contextlib.suppress(ValueError):
                    remove_placement_group(get_placement_group(row["name"]))

    def _is_unwanted(self, name: str) -> bool:
        """True if it is of this installation, and for no node that is wanted now."""
        with self._lock:
            kept = self._kept
        return kept is not None and name.startswith(f"{self.installation}:") and name not in kept


def _gpus_of(lease: Any) -> int:
    return int(lease.bundle_specs[0].get("GPU", 0))


def _key(node: RayNode) -> tuple[str, str]:
    return node.name, node.ray_id


def _bundle(node: RayNode, slots: int) -> Mapping[str, int]:
    """What our lease of a node holds."""
    if node.gpus:
        if slots > node.gpus:
            raise NoAgent(
                f"it is to have {slots} GPUs, and Ray says {node.gpus} there. Correct the node's"
                " GPUs, or start Ray there with --num-gpus"
            )
        return {"GPU": slots}
    if node.cpus:
        return {"CPU": min(slots, node.cpus)}
    raise NoAgent("Ray has neither GPUs nor processors to give there (--num-gpus, --num-cpus)")
