"""How long does a training step take, and what is a sample worth? The formulas, and no data.

    throughput    the time of a step with k workers and a given local batch
    scaling       what is known of one job's speed on one GPU type, and how sure that is
    all_reduce    the time of one exchange of gradients, measured once for each pool
    change_time   how long a job stands still when it changes
    goodput       what is left of a sample's worth when the batch grows
    sample_worth  the same of one range of batches, and how far the noise supports it

`scaling` builds on `throughput`, `change_time` on `all_reduce`; the others stand alone.
"""
