"""Is the image of what shall wait warm on the node? If not, a thread fetches it."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from typing import Final

import docker.errors

from cluster.docker_host.connection.endpoint import Endpoint
from cluster.docker_host.container.images import Images, ImageUnavailable
from cluster.worker_host import HostUnavailable

_AGAIN_SECONDS: Final = 60.0  # guessed: after a registry refused, or did not answer

_log: Final = logging.getLogger(__name__)


@dataclass(slots=True, kw_only=True)
class _Fetch:
    """One that is under way, or failed."""

    note: str
    again_at: float | None = None  # None: it is under way

    def tell(self, note: str) -> None:
        self.note = note


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """The images that a service process fetches in advance."""

    images: Images
    _fetches: dict[tuple[str, Endpoint], _Fetch] = field(default_factory=dict)

    def image_id(self, image: str, endpoint: Endpoint) -> str | None:
        """The digest of what it is there now; None: it is not, and is being fetched.

        Raises:
            HostUnavailable: the daemon does not answer.
        """
        found = self.images.id_of(image, endpoint)
        if found is not None:
            self._fetches.pop((image, endpoint), None)
            return found
        known = self._fetches.get((image, endpoint))
        if known is None or (known.again_at is not None and time.monotonic() >= known.again_at):
            self._begin(image, endpoint)
        return None

    def note(self, image: str, endpoint: Endpoint) -> str:
        """How far it is, or why it failed."""
        known = self._fetches.get((image, endpoint))
        return known.note if known else ""

    def _begin(self, image: str, endpoint: Endpoint) -> None:
        fetch = self._fetches[image, endpoint] = _Fetch(note=f"fetching image {image}")
        threading.Thread(
            target=self._run, args=(image, endpoint, fetch), name="fetch-image", daemon=True
        ).start()

    def _run(self, image: str, endpoint: Endpoint, fetch: _Fetch) -> None:
        try:
            self.images.fetch(image, endpoint, logins=(), tell=fetch.tell)
        except (ImageUnavailable, HostUnavailable, docker.errors.APIError) as problem:
            _log.warning("An image is not there: %s", problem, extra={"action": "fetch_image"})
            fetch.tell(str(problem))
        finally:
            fetch.again_at = time.monotonic() + _AGAIN_SECONDS
