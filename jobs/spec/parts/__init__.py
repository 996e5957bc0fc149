"""Parts of a spec that have a module of their own.

- `beginnings`: from what it begins, if not afresh
- `checkpoints`: how often its state is kept, and how many of those states
- `code`: which code it runs
- `data_uses`: which data its workers see
- `dependencies`: for which other jobs it waits
- `goals`: what a user wants of a job besides that it trains
- `idle`: what becomes of it when it does not use its GPUs
- `limits`: how much it may use up before it is ended
- `used_limits`: is anything left of that?
- `logged_metrics`: where in its log numbers stand
- `notify`: who is told what happens to it
"""
