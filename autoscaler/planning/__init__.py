"""How many GPUs should every job have now, and why? Pure: values in, a plan out.

`planner` tells the story of one plan. What it calls lies in storeys, each of which imports only
from those below it; packages within a storey do not import each other.

    explanations  why each job gets what it gets, and in words for whoever asks
    pool_choice   in which of its pools a job is that may be in several
    ---
    outcomes      what happens to each job of a pool, and which cause decided it
    ---
    allocation    how many GPUs each admitted job gets, and on which nodes
    decisions     the planner's answer as values, and what must hold of every answer
    ---
    fair_share    which jobs may run
    policies      what a number of GPUs is worth to a job
    ---
    demand        which sizes each job could have, and how fast it would be at each
    ---
    fitting       how fast a job trains, learned from its measurements
    placement     how workers fit on nodes
    quarantine    what becomes of jobs with data that make planning fail
    teams         how teams stand above one another, and what each may claim
    ---
    snapshot      what the planner sees: the cluster at one moment
    ---
    speed         how long a training step takes: formulas
    optimizer     which split of GPUs is worth most: a knapsack that knows nothing of jobs
"""
