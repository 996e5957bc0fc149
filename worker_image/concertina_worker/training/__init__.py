"""What happens in one optimizer step of one worker?

Read `epochs`, then `loop`, then what a step needs, from top to bottom:

    the script                          the runtime
    job.register(model, optimizer)      script_objects: check, warm up, take over the objects
    for epoch in job.epochs(10):        epochs: join; one epoch of the data after the other
      for x in job.batches(data):       loop.begin_step: switch or recover (`membership`), and take
                                        this worker's share of the next batch from `epoch_data`
        loss(model(x)).backward()       gradients: taken, summed over the workers, given back
        optimizer.step()                loop.step_optimizer: once per step, at the rate of `rates`
                                        loop.close_step: `committing` makes it count; `reporting`
                                        tells of it, `membership` reads whether to switch
    last line, or an error              ending: keep the state, tell the coordinator

- `step`: what is known of one step; `script_position`: where in all this the script is
- `checkpoint_duty`: who writes which checkpoint when
- `script_checks`: what in a script is not elastic, and what to do instead
- `distributed_model`: what stands where a script has `DistributedDataParallel(model)`
"""
