"""How does a worker hear its coordinator, and make ready what that plans?

- `coordinator_line`: what the rest of `membership` knows of all this
- `control`: the connection, in threads of its own
- `preparations`: groups of plans, built in the background
- `orders`: whether this worker has to end
- `pulse`: what the main thread is busy with, for the heartbeats
"""
