"""What happens in one optimizer step of one worker?

Read `epochs`, then `loop`, then what a step needs, from top to bottom:

    the script                          the runtime
    job.register(model, optimizer)      registration: check, warm up, `take_over` the objects
    for epoch in job.epochs(10):        epochs: join; one epoch of the data after the other
      for x in job.batches(data):       loop.begin_step: switch or recover (`membership`), and
                                        take this worker's share of the next batch from `supply`
        loss(model(x)).backward()       capture: hooks take gradients into slots (`layout`)
                                        exchange: full buckets are summed over the workers
                                        meanwhile, last of all the `postscript`
                                        gradients: `.grad` is the gradient of the whole batch
        optimizer.step()                loop.step_optimizer: once per step, at the rate of `rates`
                                        loop.close_step: `committing` makes it count; `progress`
                                        tells of it, `membership` reads whether to switch
    last line, or an error              ending: keep the state, tell the coordinator

`moment` knows where in this the script is; `blocks` are for several backward passes; `pitfalls`
and `advice` say what in a script is not elastic.
"""
