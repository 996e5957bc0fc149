"""What does the planner answer? Values that `planner` fills, and checks that do not trust it.

    pool_offer   what a pool offers to a job that may be in several
    explanation  why a job gets what it gets, as values with all numbers
    plan         one decision for each job, and what was decided for each pool
    pool_moves   which waiting jobs a plan puts into another of their pools
    held_gpus    how many GPUs are in an allocation
    invariants   what must hold of every plan; checked before the plan is carried out

Each module imports only from those above it.
"""
