"""What does the planner answer? Values that `planner` fills, and checks that do not trust it.

    explanation  why a job gets what it gets, as values with all numbers
    plan         one decision for each job, and what was decided for each pool
    invariants   what must hold of every plan; checked before the plan is carried out

Each module imports only from those above it.
"""
