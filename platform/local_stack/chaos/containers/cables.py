"""How are several machines on one connected? Each is a network namespace, with a cable to a bridge.

The bridge has an address of this machine, where the namespaces reach it. Needs root, `ip` and
`iptables`.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

LOCK_SECONDS = "60"  # iptables waits so long for others who use it


class NoCable(Exception):
    """The kernel, or a program that asks it, refuses; in its words."""


@contextmanager
def bridge(name: str, address: str) -> Iterator[None]:
    """A bridge with this address (10.64.0.1/24); what crosses it is let through.

    Raises:
        NoCable: it cannot be made.
    """
    with ExitStack() as ends:
        _ip("link", "add", name, "type", "bridge")
        ends.callback(_ip, "link", "delete", name)
        _ip("address", "add", address, "dev", name)
        _ip("link", "set", name, "up")
        for way in ("-i", "-o"):
            _forward("-I", way, name)
            ends.callback(_forward, "-D", way, name)
        yield


@contextmanager
def namespace(name: str, *, on: str, address: str, gateway: str) -> Iterator[None]:
    """A network namespace with this address (10.64.0.2/24), whose cable leads to the bridge.

    Raises:
        NoCable: it cannot be made.
    """
    _ip("netns", "add", name)
    try:
        _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", name, "master", on, "up")
        _ip("-n", name, "address", "add", address, "dev", "eth0")
        for interface in ("lo", "eth0"):
            _ip("-n", name, "link", "set", interface, "up")
        _ip("-n", name, "route", "add", "default", "via", gateway)
        yield
    finally:
        _ip("netns", "delete", name)


def remove(name: str, namespaces: Iterable[str]) -> None:
    """Remove what is left of a bridge and of namespaces; what is not there is no error."""
    for one in namespaces:
        with suppress(NoCable):
            _ip("netns", "delete", one)
    for way in ("-i", "-o"):
        with suppress(NoCable):
            _forward("-D", way, name)
    with suppress(NoCable):
        _ip("link", "delete", name)


def _forward(what: str, way: str, name: str) -> None:
    _run("iptables", "--wait", LOCK_SECONDS, what, "FORWARD", way, name, "-j", "ACCEPT")


def _ip(*words: str) -> None:
    _run("ip", *words)


def _run(*command: str) -> None:
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise NoCable(f"`{' '.join(command)}`: {ran.stderr.strip()}")
