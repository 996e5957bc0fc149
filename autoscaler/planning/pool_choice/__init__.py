"""In which of its pools is a job that may be in several? Decided anew in each plan, while it waits.

Each job ranks its pools by what they are worth to it: its speed there, less what others lose. Then
jobs ask pools in that order, and each pool answers by planning, as ever: whom it does not start
asks the next one. This is deferred acceptance (Gale and Shapley 1962) with planned pools.

    asking    the rounds in which jobs ask pools, and where each of them is in the end
    wishes    which jobs choose, and in which order each of them asks its pools
    offers    what a pool is worth to a job
    crowding  what everybody in a pool can expect of its GPUs

Each module imports only from those below it.
"""
