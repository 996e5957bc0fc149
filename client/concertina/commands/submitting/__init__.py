"""The verbs that make jobs of files, folders, command lines and other jobs.

submit     from a job file, or a file of many
run        from a command line
edit       from another job: changed while it lives, or once more
init       a job file to begin with
convert    a job file of what another system would have run
code       the folder of code that goes with them
arrays     all jobs of an array: how they stand, and what is done with them
sweeps     trials of which the best are searched
schedules  what is submitted again and again
submitted  what is said of new jobs, and how they are waited for
"""
