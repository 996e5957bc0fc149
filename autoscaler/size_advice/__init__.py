"""How many workers would have been right for a job? Said from what was measured while it ran.

reading     reads how long a job ran at each size and how fast it was there
arithmetic  from that to what each GPU brought, and to a range of workers: pure
spec_range  what a spec says that has this range: pure
"""
