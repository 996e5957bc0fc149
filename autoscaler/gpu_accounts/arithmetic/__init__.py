"""How much GPU time was whose, in one hour of one pool? Whole microseconds, so that it adds up.

hour          all lines of an hour
job_times     what a team's jobs held of its guarantee and beyond it, and what they did with it
pool_times    what teams lent, what was kept for them, what lay idle
promises      what each team was promised for its own jobs
stretches     the stretches of time between two changes
owed          what a team was owed, and what of it was not given
shortfall_causes   why it was not
history       what was recorded: who held what, what there was, what was promised
"""
