"""What must hold whatever dies, and did everything come back?

- `invariants`: sentences about what does not hold, from plain values
- `watching`: whether two workers ever held one GPU, and when each job made steps
- `noticing`: after how long the platform acted on a fault
- `absences`: whether jobs went on while a node was away
- `recovery`: all of it asked after a strike, until it holds or the time is up
"""
