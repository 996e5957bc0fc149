"""Which policies come with Concertina?"""

from typing import Final

from autoscaler.planning.policies.baselines.elastic_fifo import ElasticFifo
from autoscaler.planning.policies.baselines.fixed_batch import FixedBatch
from autoscaler.planning.policies.baselines.static import Static
from autoscaler.planning.policies.catalogue import Catalogue
from autoscaler.planning.policies.completion_time import CompletionTime
from autoscaler.planning.policies.scaling_efficiency import ScalingEfficiency
from autoscaler.planning.policies.throughput import Throughput
from autoscaler.planning.policies.utility_cost import UtilityCost

BUILT_IN: Final = Catalogue.of(
    (
        CompletionTime,
        Throughput,
        FixedBatch,
        ElasticFifo,
        Static,
        ScalingEfficiency,
        UtilityCost,
    )
)
DEFAULT_POLICY: Final = CompletionTime.name
