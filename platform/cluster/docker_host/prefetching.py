"""Which images are fetched before any launch names them, and how far are they?

Nobody waits for them: each is looked for, and fetched, in the background.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import docker.errors

from cluster.background.background_jobs import BackgroundJobs
from cluster.docker_host.connection.connections import words
from cluster.docker_host.connection.daemons import Daemons
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.docker_host.container.images import Images, ImageUnavailable
from cluster.worker_host import HostUnavailable, NodeImage

# Guessed: a shorter time asks daemons and registries more often, a longer one has admins wait until
# what they put right, or what somebody removed from a node, is seen.
_AGAIN_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class _WantedImage:
    """An image on a daemon. Several nodes may share it."""

    endpoint: DaemonEndpoint
    image: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    note: str  # why it is not there; empty: it is
    again_at: float = 0.0  # when to look again, unless somebody is at it


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefetching:
    """The images that one installation has fetched ahead."""

    daemons: Daemons
    images: Images
    now: Callable[[], float] = time.monotonic
    _known: dict[_WantedImage, _Progress] = field(default_factory=dict)
    _background: BackgroundJobs = field(default_factory=lambda: BackgroundJobs(name="fetch_image"))

    def go_on(self, wanted: Collection[NodeImage]) -> Mapping[NodeImage, str]:
        """See `fetch_ahead` of the port."""
        by_node = self.daemons.endpoints()
        wishes = {
            one: _WantedImage(by_node[one.node], one.image) for one in wanted if one.node in by_node
        }
        known = {wish: self._known[wish] for wish in wishes.values() if wish in self._known}
        for wish in self._known.copy().keys() - known.keys():
            self._known.pop(wish, None)
        for wish in dict.fromkeys(wishes.values()):
            if wish not in known or self.now() >= known[wish].again_at:
                self._background.begin(wish, partial(self._fetch, wish))
        return {one: known[wish].note for one, wish in wishes.items() if wish in known}

    def _fetch(self, wish: _WantedImage) -> None:
        """Fetch it without a login. Raises: HostUnavailable: later."""
        try:
            self.images.fetch(wish.image, wish.endpoint, logins=(), tell=partial(self._tell, wish))
        except (ImageUnavailable, HostUnavailable, docker.errors.APIError) as problem:
            note = words(problem) if isinstance(problem, docker.errors.APIError) else str(problem)
            self._tell(wish, note, seconds=_AGAIN_SECONDS)
            raise HostUnavailable(note) from problem
        self._tell(wish, "", seconds=_AGAIN_SECONDS)

    def _tell(self, wish: _WantedImage, note: str, *, seconds: float = 0.0) -> None:
        self._known[wish] = _Progress(note=note, again_at=self.now() + seconds)
