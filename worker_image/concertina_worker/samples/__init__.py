"""Which samples does a worker compute, and how do they become its micro-batches?

    job.batches(data) -> source      what the script gave: samples, their order, how to load them
                           |
      step_plan, cursor -> requests  one for each micro-batch of the steps to come, in order
                           |
                         reading     in the processes that load: a request in, a micro-batch out
                           |
                         prefetch    what comes back, and this worker's share of the step it is for
                           |
                         epoch_data  (in `training`) the data of the present epoch, which is
                                     compared with what the other workers see, by `comparison`

`requests`, `reading` and `prefetch` are in `loading`. The rest:

- `drawn`: samples that a script draws at random, as many as its steps use
- `order`: the order of an epoch's samples
- `cursor`, `stream_place`: how many of them are used; where a stream stands
- `step_plan`: who will compute with which batch in the coming steps
- `share`: which part of a batch is whose
- `meeting`: where in the script workers meet
- `randomness`: which random numbers the loading of a sample sees
"""
