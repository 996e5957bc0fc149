"""What does the planner answer? Values that `planner` fills, and checks that do not trust it.

plan         one decision for each job, and what was decided for each pool
explanation  why, as values with all numbers
invariants   what must hold of every plan; checked before the plan is carried out
"""
