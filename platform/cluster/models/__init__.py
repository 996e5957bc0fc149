"""Where training happens: pools of GPUs, the nodes they are in, and how they were used.

machines, node, pool, prefetched_image, utilisation_sample  one kind of row each, or two
all_reduce    what may stand in a pool's table of all-reduce times
service_urls  whether an address can be where containers reach the api
"""

from cluster.models.machines import MachineEvent, MachineRequest
from cluster.models.node import Node, NodeChange
from cluster.models.pool import Pool
from cluster.models.prefetched_image import PrefetchedImage
from cluster.models.utilisation_sample import UtilisationSample

__all__ = [
    "MachineEvent",
    "MachineRequest",
    "Node",
    "NodeChange",
    "Pool",
    "PrefetchedImage",
    "UtilisationSample",
]
