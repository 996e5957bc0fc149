"""Which values are the best? Sweeps of many trials, and how these went.

endpoint   the endpoints
documents  what they answer
spec_schema  how the spec of a sweep is described
"""
