"""Which policy on which cluster serves a workload best?

    candidates  what is compared, each under a name
    comparison  one simulation for each candidate, and their results side by side

`autoscaler.simulation.engine.report` makes a page of it.
"""
