"""Which plan may be applied, and in which words? Decides; `carry_out` writes.

planning_round      observe, plan, check and put into words, without jobs that make it fail
deciding            a sound plan; if need be, of fewer pools, or without a few jobs
processor_time      how long one computation may take
explaining          puts all decisions into words
turns               which of the jobs that go on waiting are told anew in this tick
last_said           what was said of each job last, and of which it is said anew
left_waiting        which jobs a tick leaves waiting, and why
explained           a decision together with its explanation
decision_document   a decision as JSON
"""
