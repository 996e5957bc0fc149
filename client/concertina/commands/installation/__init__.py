"""What does the whole installation have, and how does an admin change it?

- `cluster`: `teams`, `pools`, `nodes`, `cordon`, `drain`, `uncordon`
- `admin`: `admin export`, `admin apply`: all that admins set up, as one file
"""
