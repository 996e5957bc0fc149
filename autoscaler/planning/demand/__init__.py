"""Which sizes could each job have, and how fast would it be at each? Before any choice is made.

    sizes               which numbers of workers a job may run with
    change_cost         what a change costs a running job
    batch               which global batch is best for a number of workers
    batch_growth        how fast the batch may grow
    curve_inputs        all that the speed of a job depends on
    curves              the speed of a job at each size, remembered by these inputs
    trials              which size a job may try although its model expects nothing of it
    usefulness          up to which size more GPUs still make the job faster
    application_metric  how many workers the application itself asks for
    demand              all of it for one job, seen from where the job is now

Policies read `Demand` and `Size`, which this package offers by its own name.
"""

from autoscaler.planning.demand.curves import Size
from autoscaler.planning.demand.demand import Demand, demand_of, demands_of, next_larger

__all__ = ["Demand", "Size", "demand_of", "demands_of", "next_larger"]
