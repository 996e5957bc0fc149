"""What follows from the batch that the platform chose?

- `learning_rate`: by what the script's learning rate is multiplied
- `schedule`: how far a training is, whatever batches it used
- `noise_scale`: how noisy the gradient is, and what a larger batch is worth
- `memory_limit`: how large a micro-batch may be
"""
