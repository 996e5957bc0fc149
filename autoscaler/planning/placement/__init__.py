"""On which nodes do the workers run?

    seats          where the workers of a job are, and how many it is to have
    room           which GPUs are free
    packing        which nodes suit one job
    seating        places all jobs of a plan
    making_room    which workers could move so that a job fits
    fragmentation  what is in the way of a job that does not fit

Start at `seating`; `allocation.placing` calls it.
"""
