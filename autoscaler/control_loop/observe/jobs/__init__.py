"""How do jobs stand, in the database and on the worker host? The rows of many are read at once.

views           reads the jobs that hold GPUs, or want some
waiting         remembers those that only wait, while their rows are the same
job_view        one job with its workers and processes
row_version     whether a row was written since it was read
claims          whether another team waits for what a job borrows
arrangements    what a later tick needs of an assignment
seats           where workers sit, and which seats are free
names           how the processes of a job are called
"""
