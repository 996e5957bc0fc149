"""Commands of a person beside a worker.

- `execute`: `exec`
- `window`: the person's own terminal meanwhile
"""
