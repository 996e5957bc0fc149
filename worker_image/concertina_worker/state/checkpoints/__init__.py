"""What of a training lies on disk?

- `checkpoint`: writes its state, and reads the newest that is whole
- `weights`: the part of it that everybody can read
- `in_parts`, `row_file`: the same, written and read by many, of whom none has all of it
- `writer`: writes every so often, in the background
- `keeping`: which checkpoints are kept
- `starting`: how a job begins that starts from another, or from a model
- `written_file`: how a file gets onto the disk whole
- `former_names`: what checkpoints of earlier releases call the runtime's classes
- `furthest_step`: up to which step the training had come, checkpoint or not
"""
