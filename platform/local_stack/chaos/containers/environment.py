"""What must the service know of machines on which its jobs run?"""

from __future__ import annotations

from collections.abc import Iterator

from control_plane import database_roles

from local_stack.chaos.containers.machines import Machines
from local_stack.chaos.faults import NODE_LOST_SECONDS
from local_stack.containers import prerequisites
from local_stack.stack import preparation
from local_stack.stack.service import StackService

NODE = """
node = Node.objects.filter(name={name!r}).first() or Node(name={name!r}, pool=pool)
node.host_url, node.gpus = {url!r}, {gpus}
node.full_clean()
node.save()
"""
POOL = """
from cluster.models import Node, Pool
pool = Pool.objects.get(name={pool!r})
"""


def of_service(machines: Machines) -> dict[str, str]:
    """The environment of its processes."""
    return {
        "DOCKER_HOST": machines.beside.url,
        prerequisites.GIVEN: machines.gateway,
        "CONCERTINA_NODE_LOST_SECONDS": str(NODE_LOST_SECONDS),
    }


def register(machines: Machines, service: StackService) -> None:
    """Register each node of the pool with its daemon, as an admin does.

    Raises:
        PreparationFailed: the service refuses them.
    """
    program = "".join(_program(machines))
    preparation.manage(service, "shell", "--command", program, role=database_roles.OWNER)


def _program(machines: Machines) -> Iterator[str]:
    """The first node is there, with all GPUs, which are guaranteed: so it is the last to change."""
    yield POOL.format(pool=preparation.POOL)
    for one in reversed(machines.nodes):
        yield NODE.format(name=one.name, url=one.url, gpus=machines.gpus_each)
