"""How does a fault hit?

- `strikes`: all processes of a component at once, or what is around them
- `outages`: what is no process: a disk, or a part of the network
- `aims`: which machine is hit, and what ends with it
"""
