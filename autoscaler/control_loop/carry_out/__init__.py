"""How is done what rules and plans say? The only writer of what follows from them.

    decisions       what a plan decides, job by job: start, rescale, pause, drop, explain
    ---
    instructions    what a rule gives: first what is written, in one transaction, then the orders
    ---
    launches        with which command, environment and limits each process is started
    assignments     writes down what a job should run with, as its next revision
    seating         seats workers and claims their GPUs
    accounting      counts GPU time and samples the use of each team
    data_mounts     where a worker sees its job's data
    start_mounts    where a worker sees what its job starts from
    error_notice    tells people of a job that the loop could not handle
    planning_notes  notes which jobs and pools could not be planned
    ---
    writing         writes what was drafted for many jobs, in as many statements as for one
    row_updates     changes many rows of a table in one statement
    held_together   of how many jobs one transaction holds the rows

The database comes first: each change is one transaction that checks the fence, compares and sets,
and writes why. What the worker host has to do follows from those rows, in the same tick or, after a
crash, in the next.
"""
