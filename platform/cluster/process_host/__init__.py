"""Runs the processes of jobs on one machine without containers.

Every process has a *supervisor* of its own, a small program that belongs to nobody: it survives
the death of every service process, writes the log and records how the process ended. The service
and the supervisor talk through files in the process's *record*, so either may die at any moment.

`kind` says what the installation's variables configure; `process_environments`, what a process
sees.
"""
