"""Which policy on which cluster serves a workload best?

    candidates    what is compared, each under a name
    feasibility   which jobs can never end under one of them, before anything is simulated
    comparison    one simulation for each candidate, and their results side by side
    by_team       what one simulation meant for each team
    before_after  what a change would have meant for each team: two of these side by side

`autoscaler.simulation.engine.report` makes a page of it.
"""
