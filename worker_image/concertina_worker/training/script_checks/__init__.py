"""What in a script breaks elasticity, and what should it do instead?

- `pitfalls`: what can be seen, and is told once
- `advice`: what a typical error means in an elastic job
- `loss_watch`, `loss_weights`: is the loss a mean over the samples?
- `schedule_watch`: does a schedule end with the training?
"""
