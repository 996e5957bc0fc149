"""What came out of a simulation? Values; nothing here knows how they were made.

    records   one record for each job, and the use of the cluster over time
    summary   how well the cluster served the workload, in a dozen figures
    timeline  the use over time as curves with few points

`summary` and `timeline` read records.
"""
