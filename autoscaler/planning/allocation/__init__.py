"""How many GPUs does each admitted job get, and on which nodes?

    size_values      what each size is worth to a job under the pool's policy
    deadline_values  what a job with a deadline needs comes first, what is more comes last
    plan_values      both, for all jobs of a plan
    guarantees       between which totals the jobs of each team must stay
    split            how many workers and which batch each job gets: the optimum within both
    defragmentation  which moves of running jobs pay for themselves
    placing          makes the split fit on the nodes, and asks for another where it does not

Each module imports only from those above it.
"""
