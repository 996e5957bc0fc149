"""How does a container wait for a launch, with PyTorch loaded already?

`keeping` sees that as many wait as are wished for: `fetching` their image, `making` them, noting
`setbacks`, and `waiting` for what becomes of each. `taking_over` is the launch.
"""
