"""What does the whole installation have, and how does an admin change it?

- `cluster`: `teams`, `pools`, `nodes`, `cordon`, `drain`, `uncordon`
- `context`: `context ls`, `context use`, `context add`, `context rm`: which installation is meant
- `simulate`: what another policy, another workload or more GPUs would mean
- `prices`: `price ls`, `price set`, `price rm`: what a GPU-hour costs, from which day on
- `admin`: `admin export`, `admin apply`: all that admins set up, as one file
"""
