"""Is the image of a launch on the node? If not, it is fetched, and people see how far that is.

What a registry refuses for good is told apart from what time may heal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import docker.errors
from docker.auth import resolve_repository_name

from cluster.docker_host.connection.connections import Client, Connections, talking_to, words
from cluster.docker_host.connection.endpoint import DaemonEndpoint
from cluster.worker_host import HostUnavailable, RegistryLogin

_MEGABYTE: Final = 1_000_000
MADE_HERE: Final = "localhost/"  # images built on a node; nobody else can own such a name
_SILENCE_SECONDS: Final = 120.0  # guessed: unpacking a large layer says nothing for a while
_DOCKER_HUB: Final = frozenset({"docker.io", "index.docker.io", "registry-1.docker.io"})
_REFUSALS: Final = re.compile(
    "unauthorized|denied|not found|manifest unknown|name unknown|invalid reference"
    "|no basic auth|incorrect username|no matching manifest|repository name|does not exist",
    re.IGNORECASE,
)
_PASSING: Final = re.compile("no such host|timeout|refused|too many|unavailable", re.IGNORECASE)


class RegistryTrouble(HostUnavailable):
    """The registry does not answer, or not as it should; time may heal that."""


class ImageUnavailable(Exception):
    """The registry refuses this image, and will again; the message is the registry's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    """The images on the nodes of one installation."""

    connections: Connections

    def fetch(
        self,
        image: str,
        endpoint: DaemonEndpoint,
        *,
        logins: Iterable[RegistryLogin],
        tell: Callable[[str], None],
    ) -> None:
        """See that it is there; `tell` hears how far it is, and may raise to break off.

        Raises:
            ImageUnavailable: for good, as far as the registry tells.
            RegistryTrouble, HostUnavailable: try again later.
        """
        if self.id_of(image, endpoint):
            return
        if image.startswith(MADE_HERE):
            raise ImageUnavailable(
                f"{image} is not on this node, and names under {MADE_HERE} are never fetched."
                " Build or load it there, or name an image with its registry."
            )
        tell(f"fetching image {image}")
        client = self.connections.connected(endpoint, _SILENCE_SECONDS)
        try:
            self._pull(client, image, endpoint, logins=logins, tell=tell)
        finally:
            client.close()
        if not self.id_of(image, endpoint):
            raise HostUnavailable(f"image {image} was fetched and is gone again")

    def id_of(self, image: str, endpoint: DaemonEndpoint) -> str | None:
        """The digest of what it is there now; None: it is not there."""
        with talking_to(endpoint):
            try:
                return str(self.connections.quick(endpoint).inspect_image(image)["Id"])
            except docker.errors.ImageNotFound:
                return None

    def volumes(self, image: str, endpoint: DaemonEndpoint) -> tuple[str, ...]:
        """Return where it wants to be given room to write, outside of its root file system."""
        with talking_to(endpoint):
            found = self.connections.quick(endpoint).inspect_image(image)
        return tuple((found.get("Config") or {}).get("Volumes") or ())

    def _pull(
        self,
        client: Client,
        image: str,
        endpoint: DaemonEndpoint,
        *,
        logins: Iterable[RegistryLogin],
        tell: Callable[[str], None],
    ) -> None:
        progress = ImagePullProgress(image=image)
        with talking_to(endpoint):
            try:
                lines: Iterator[dict[str, Any]] = client.pull(
                    image, stream=True, decode=True, auth_config=_login(image, logins)
                )
                for line in lines:
                    if "error" in line:
                        raise _judged(image, str(line["error"]))
                    progress.take(line)
                    tell(str(progress))
            except docker.errors.APIError as problem:
                raise _judged(image, words(problem)) from problem


@dataclass(slots=True, kw_only=True)
class ImagePullProgress:
    """How much of an image has come, from what the daemon says of each layer."""

    image: str
    _bytes: dict[str, tuple[int, int]] = field(default_factory=dict)  # by layer: so far, of all

    def take(self, line: dict[str, Any]) -> None:
        layer, status = line.get("id"), line.get("status")
        detail = line.get("progressDetail") or {}
        if layer and status == "Downloading" and detail.get("total"):
            self._bytes[layer] = (detail["current"], detail["total"])
        elif layer in self._bytes and status == "Download complete":
            total = self._bytes[layer][1]
            self._bytes[layer] = (total, total)

    def __str__(self) -> str:
        so_far = sum(current for current, _ in self._bytes.values()) // _MEGABYTE
        total = sum(total for _, total in self._bytes.values()) // _MEGABYTE
        if not total:
            return f"fetching image {self.image}"
        return f"fetching image {self.image}: {so_far} of {total} MB"


def _login(image: str, logins: Iterable[RegistryLogin]) -> dict[str, str]:
    """It is empty, not None, where there is none: Docker's client would use that of who runs it."""
    registry, _ = resolve_repository_name(image)
    for login in logins:
        same = {login.registry} if login.registry not in _DOCKER_HUB else _DOCKER_HUB
        if registry in same:
            return {"username": login.username, "password": login.password}
    return {}


def _judged(image: str, said: str) -> Exception:
    if _REFUSALS.search(said) and not _PASSING.search(said):
        return ImageUnavailable(f"image {image}: {said}")
    return RegistryTrouble(f"image {image}: {said}")
