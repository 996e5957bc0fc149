"""On which nodes do the workers stand?

`seats` says what a job wants, `room` what is free, `packing` which nodes suit one job, `seating`
places all jobs of a plan, `fragmentation` says what is in the way where a shape does not fit.
"""
