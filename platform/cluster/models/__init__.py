"""Where training happens: pools of GPUs, the nodes they are in, and how they were used."""

from cluster.models.node import Node, NodeChange
from cluster.models.pool import Pool
from cluster.models.utilisation_sample import UtilisationSample
from cluster.models.warm_pool import WarmPool

__all__ = ["Node", "NodeChange", "Pool", "UtilisationSample", "WarmPool"]
