"""How do the containers of this checkout's jobs end, with everything that was made for them?"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cluster.docker_host.sweep import sweep
from cluster.worker_host import HostUnavailable

from local_stack.checkout import Checkout
from local_stack.containers import endpoint, network, own_daemon
from local_stack.containers.endpoint import NoDocker
from local_stack.processes.child_process import NotReady
from local_stack.processes.servers import answers

GRACE_SECONDS = 10.0  # for a last checkpoint


def end(checkout: Checkout, docker_url: str, *, say: Callable[[str], None]) -> bool:
    """Stop the containers, remove their networks and the coordinators'.

    Returns whether nothing is left. If Docker does not answer we say so, and a later call
    tries again.
    """
    began = time.monotonic()
    try:
        with _daemon(checkout, docker_url):
            count = sweep(
                docker_url,
                installation=checkout.identity,
                state_dir=checkout.state_dir / "state",
                grace_seconds=GRACE_SECONDS,
            )
            network.remove(docker_url, checkout.identity)
    except (HostUnavailable, NoDocker, NotReady) as trouble:
        say(f"  ! Containers may be left: {trouble}")
        return False
    if count:
        say(f"  Stopped {count} containers ({time.monotonic() - began:.1f} s)")
    return True


@contextmanager
def _daemon(checkout: Checkout, url: str) -> Iterator[None]:
    """The one at this address; ours is started for as long as we need it."""
    if url != endpoint.own_url(checkout) or answers(endpoint.reach, url):
        yield
        return
    checkout.make_folders()
    with own_daemon.running(checkout):
        yield
