"""How does a fresh checkout become one that runs? With the standard library only.

- `dependencies`, `installer`, `virtual_environment`: what must be installed, by whom, and where
- `dashboard`, `node`: how the dashboard is built
- `stamp`: whether a step was done for exactly these inputs
- `setup_lock`: how two `./dev` do not set up one checkout at the same time
- `long_step`: how a step that takes long tells how far it is
"""
