"""Where training happens: pools of GPUs, the nodes they are in, and how they were used."""

from cluster.models.node import Node, NodeChange
from cluster.models.pool import Pool
from cluster.models.prefetched_image import PrefetchedImage
from cluster.models.utilisation_sample import UtilisationSample

__all__ = ["Node", "NodeChange", "Pool", "PrefetchedImage", "UtilisationSample"]
