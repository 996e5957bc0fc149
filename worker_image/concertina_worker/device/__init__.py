"""What does this worker compute on, and how busy is it?

- `chosen`: where this worker computes
- `gpu_watch`: how busy and how full its GPUs are; it reads them by a `gauge`, such as `nvml`
- `host_copy`, `side_stream`: how state leaves the device without standing in the training's way
- `kernels`: how the host waits for what a GPU computes
- `random_state`: where the generators of random numbers are
"""
