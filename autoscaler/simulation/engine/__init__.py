"""What would have happened? Replays a workload through the planner, on a clock of its own.

Packages that lie in storeys, each of which imports only from those below it; packages within a
storey do not import each other:

    report      a comparison as one HTML file
    ---
    comparison  several simulations of one trace, side by side
    prediction  the present replayed forward, several times: when jobs will start and finish
    ---
    replay      the simulator: events, jobs and nodes, and what the planner is told of them
    ---
    workload    which jobs come, and when: generated, or read from a recording
    results     what came out of a simulation
    ---
    truth       how fast a job truly trains, which the planner must find out
"""
