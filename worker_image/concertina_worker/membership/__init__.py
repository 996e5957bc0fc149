"""Which generation is this worker in, and how does it get into the next one?

A rescale as it happens to a worker that trains; the modules are best read in this order:

1. `coordinator_link` hears of a plan, and builds the plan's group in the background, while training
   goes on.
2. `agreement` rides with each gradient sum: so all learn at once that all could switch, and
   `coming_steps` says what follows: who computes with which batch, and when the switch is due.
3. `entering` takes the worker over, between two steps; a new one has waited here for the others.
4. `presence` is where it stands now: in which generation, with which group and rank.
5. `handovers`, and below it `state.handover`: joiners get the state beside the steps that follow.
   When all of it has arrived, they compute as well.

When a member is lost, `presence` breaks off, `coordinator_link` meets the survivors as the
coordinator plans it, and `entering` lets all go on from whoever is furthest (`state.recovery`).

`membership` puts all this round the steps of `training.loop`, which it knows as a `trainer`.
`alone` is a worker without a coordinator.
"""
