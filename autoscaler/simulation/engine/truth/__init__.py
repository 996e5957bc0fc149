"""How fast does a job truly train? The simulator knows it; the planner must find out.

    profiles   the speed and the gradient noise of a kind of job
    progress   how far a job comes in a given time
    isolation  how long a job would run alone on a fixed share of its pool

Each module imports only from those above it.
"""
