"""How does a job come to its end?

settling    whether it has ended, or must start again
stopping    which processes have to end, and when none is left
standstill  ends what stands still, after a warning
disk        ends what writes more than it may
limits      ends what has used up what it may, after a warning
budgets     pauses what its team has no GPU-hours for any more
idleness    tells of what does nothing, and pauses it if its spec says so
stops       how a job is stopped that is to start again, or has failed too often
"""
