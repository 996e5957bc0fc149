"""Which generation is this worker in, and how does it get into the next one?

A rescale as it happens to a worker that trains; the modules are best read in this order:

1. `control` hears of a plan, in a thread of its own (`coordinator_line` joins it to what follows).
2. `preparations` builds the plan's group in the background, while training goes on.
3. `agreement` rides with each gradient sum: so all learn at once that all could switch, and
   `coming_steps` says what follows: who computes with which batch, and when the switch is due.
4. `entering` takes the worker over, between two steps; a new one has waited here for the others.
5. `presence` is where it stands now: in which generation, with which group and rank.
6. `handovers`, and below it `state.handover`: joiners get the state beside the steps that follow.
   When all of it has arrived, they compute as well.

When a member is lost, `presence` breaks off, `preparations` meets the survivors as the coordinator
plans it, and `entering` lets all go on from whoever is furthest (`state.recovery`).

`membership` puts all this round the steps of `training.loop`, which it knows as a `trainer`.
`orders` and `pulse` are what else passes between a worker and its coordinator; `alone` is a worker
without one.
"""
