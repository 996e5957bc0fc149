"""How are simulations run that people ask for over REST? In the background, one after the other.

rest        the addresses under /api/v1/simulations
previews    what other quotas would have meant, as one kind of simulation
quota_prices  what a guarantee is worth, as another
tasks       what Celery runs: the simulation that has waited longest
execution   carries out one simulation
commands    changes a simulation's row, and tells its worker when to stop
queries     what can be asked about simulations, and by whom
workloads   which workload and which clusters a request means
history     what this cluster saw lately, as a workload
retention   forgets old simulations
limits      how large a simulation may be, and who may ask for one
errors      what can go wrong with a request
models      the rows; the application keeps the label `what_if`, which their tables bear
"""
