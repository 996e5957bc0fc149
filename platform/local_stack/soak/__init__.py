"""What does a service with a thousand running jobs cost, and does that stay so?

- `run`: what `./dev soak` does
- `report`, `verdicts`, `sample`: what was seen, whether it held, and how a person reads it
- `users`: who uses the service meanwhile
- `counting`: what can be counted of it
- `measured_stack`: a stack of its own with simulated machines, and two real slots
"""
