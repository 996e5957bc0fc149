"""What of a training lies on disk?

- `checkpoint`: writes its state, and reads the newest that is whole
- `former_names`: what checkpoints of earlier releases call the runtime's classes
- `furthest_step`: up to which step the training had come, checkpoint or not
"""
