"""How do jobs stand, in the database and on the worker host? The rows of many are read at once.

views           reads the jobs that hold GPUs, or want some
memory          remembers them, while their rows are the same
versions        which version of each job is in the database
job_view        one job with its workers and processes
claims          whether another team waits for what a job borrows
arrangements    what a later tick needs of an assignment
seats           where workers sit, and which seats are free
names           how the processes of a job are called
"""
