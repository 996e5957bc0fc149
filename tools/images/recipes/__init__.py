"""What is in each image?

- `worker`: the worker image, and the examples on top of it
- `service`: api, beat, control and io
- `stand_ins`: images that stand for official ones, for tests only
"""
