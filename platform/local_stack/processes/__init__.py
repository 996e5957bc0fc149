"""How is one process of the stack started, watched and stopped?

- `child_process`: one process
- `supervisor`: several processes that must run, and are started again
- `tether`: how a process ends with its parent, even when that is killed
- `servers`: whether a server answers; `embedded_postgres` and `embedded_valkey` are the two
- `own_ray`: a Ray cluster of this machine
"""
