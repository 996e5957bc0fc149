"""How do the gradients of a step become the sum over all workers?

    backward()      capture: hooks take gradients into slots (`layout`)
                    exchange: full buckets are summed over the workers meanwhile,
                    last of all the `piggyback`: small numbers behind the last gradient
    afterwards      summing: `.grad` is the gradient of the whole batch

`in_parts` is what is left of this for models that are sharded: `fully_shard` sums their gradients.
`blocks` are for scripts with several backward passes, `noise_meter` measures how noisy the
gradients are.
"""
