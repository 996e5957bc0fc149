"""How does a program talk with a command beside a worker?

- `remote_shell`: one answer that is read, and pieces that are sent
"""
