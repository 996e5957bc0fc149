"""Which samples does a worker compute, and how do they become its micro-batches?

    job.batches(data) -> source      what the script gave: samples, their order, how to load them
                           |
         course, cursor -> requests  one for each micro-batch of the steps to come, in order
                           |
                         reader      in the processes that load: a request in, a micro-batch out
                           |
                         feed        what comes back, and this worker's share of the step it is for
                           |
                         supply      (in `training`) the feed of the present epoch, held against
                                     what the other workers see, by `comparison`

`order` is the order of an epoch's samples, `cursor` how many of them are used, `course` who will
compute with which batch, and `share` what of a batch is whose.
"""
