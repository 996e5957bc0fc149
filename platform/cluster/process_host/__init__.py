"""Runs the processes of jobs on one machine without containers.

Every process has a *supervisor* of its own, a small program that belongs to nobody: it survives
the death of every service process, writes the log and records how the process ended. The service
and the supervisor talk through files in the process's *record*, so either may die at any moment.

`kind` says what the installation's variables configure, of which `user_settings` are as whom jobs
run (`trial` tries whether they can); `process_environments` says what a process sees, and `ports`
which it may listen on. `host` writes the `launch_document` that a `supervisor` reads; `starting`
starts these. `gauge` reads what workers take of the machine, `shells` lead people beside workers.
`sweep` ends all of an installation. Below are `commands`, `record` and `users`.
"""
