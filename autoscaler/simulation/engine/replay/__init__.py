"""What happens next? The simulator, event by event, around the real planner.

Read `simulator` first: it takes the next event, and asks for a plan at each tick.

    simulator          replays a trace
    settings           on which cluster, at which costs and with which knowledge
    agenda             the events to come, by time
    world              what happens to jobs and nodes between two plans
    simulated_job      what one job is truly doing at a moment
    simulated_cluster  which nodes are up, and which jobs hold their GPUs
    measuring          what the planner learns of a job's speed
    planner_view       what the planner sees of a job
    outlook            what is left, as far as it is in sight
    recorder           what is kept while the simulation runs
    reporting          what is written down of a job at the end
"""
