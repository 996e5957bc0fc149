"""What happens to each job of a pool, and which cause decided it?

    outcome    what happens to one job, and the picture of its whole pool that explains it
    reasons    the one cause of each outcome that counts most
    replacing  on which GPU a substitute for a slow worker could train
    deadlines  which jobs will miss their deadline

`planner` makes the outcomes, and makes decisions of them.
"""
