"""Trials are weighed at rungs, and further ones are submitted, every few seconds; bounded.

- `one_round`: the whole round
- `weighing`: who came to a rung, and who goes on, waits or is stopped: one transaction of a sweep
- `arrivals`: who came to a rung since the last round, and with which value
- `standings`: how far each trial of a sweep is
- `refilling`: places that are free get the next trials, in the name of whoever submitted the sweep
"""
