"""What has to be done for a job whatever the plan says? Decided here, carried out by the loop.

Pure, as planning is: a rule takes one job as it stands (`snapshot`) and gives what is to be done
(`instructions`); `table` says which rules hold for which jobs, and in which order. What costs
something to find out is looked up only for the rule that needs it (`questions`).

Rules are level-triggered: they look at how things stand, not at what happened, so a tick that died
half way is simply continued by the next.
"""
