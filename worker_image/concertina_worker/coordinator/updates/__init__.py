"""What does an event change in what the coordinator knows? Nothing is decided here.

- `state_update`: every kind of event
- `liveness`: the events of one worker, and the silence of workers
- `heartbeat_rules`: which workers are silent, hang, or wait for each other
"""
