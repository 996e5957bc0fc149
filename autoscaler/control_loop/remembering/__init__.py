"""What a process remembers from one tick to the next, because to make it again would cost too much.

`row_version` tells whether a row was written since; `waiting` keeps the views of jobs that only
wait, `planned` the planning values made of them, `words` what was said of each job. All of it may
be forgotten at any moment: the next tick makes it again.
"""
