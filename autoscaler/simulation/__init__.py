"""What would have happened, with another policy, other nodes, other jobs?

api       simulations that people ask for over REST, run in the background
cli       the command `concertina-simulate`
---
engine    replays a workload through the planner, on a clock of its own; pure
"""
