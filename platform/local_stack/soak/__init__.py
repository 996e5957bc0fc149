"""What does a service with a thousand running jobs cost, and does that stay so?

- `run`: what `./dev soak` does
- `population`, `real_jobs`, `audience`: who uses the service meanwhile
- `sample`, `verdicts`, `report`: what was seen, whether it held, and how a person reads it
- `measured_stack`: a stack of its own with simulated machines, and two real slots
- `reading`: all that can be counted at a moment, and what was spent between two
- `processes`, `database`, `ticks`: where the counts come from
- `requests`: what people and programs ask of the service meanwhile
- `percentiles`: what most of many numbers are below
"""
