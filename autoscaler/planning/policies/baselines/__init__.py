"""What would a simpler scheduler do? Policies to compare the others with.

    static        no elasticity: each job gets the workers it requests, or waits
    elastic_fifo  equal shares, in the order in which jobs came
    fixed_batch   elastic workers with a batch that never changes

`static` and `fixed_batch` narrow what a job may be given, and value the rest as `throughput` does.
"""
