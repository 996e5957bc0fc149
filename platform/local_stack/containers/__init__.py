"""How do this checkout's jobs run in containers?

- `endpoint`: which Docker runs them: one that answers, else one of this checkout's own
- `own_daemon`, with its `own_bridge` and `own_cgroup`: how a Docker of one's own runs
- `images`, `image_names`: the images that jobs need, and their names
- `network`, `prerequisites`: what must be there before a job's first container
- `mounts`: what is mounted below a folder
- `ending`: how all of it ends
"""
