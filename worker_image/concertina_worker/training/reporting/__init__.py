"""What is told of the training, and to whom?

- `progress`: what the coordinator hears, once a second
- `reports`: how fast the training goes
- `pace`: how fast this worker computes its own shares
- `audit`: which samples went into which step, written down on request
"""
