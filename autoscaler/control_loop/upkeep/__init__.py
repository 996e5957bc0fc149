"""What has to be done for a job whatever the plan says? One module per concern.

Each rule looks at one job and either changes something and answers True, or leaves it alone. The
job is then looked at anew, from the first rule on, until none has anything left to do (`rounds`).
Rules are level-triggered: they look at how things stand, not at what happened, so a tick that died
half way is simply continued by the next.
"""
