"""What does the whole installation have, and how does an admin change it?

- `cluster`: `teams`, `pools`, `nodes`, `cordon`, `drain`, `uncordon`
- `prices`: `price ls`, `price set`, `price rm`: what a GPU-hour costs, from which day on
- `admin`: `admin export`, `admin apply`: all that admins set up, as one file
"""
