"""What does a snapshot mean, before a rule decides what to do?

signs_of_life   whether a job gets anywhere
reclaiming      by when lent GPUs must be back
disk_excess     whether a job has written more than it may
limits_of_use   how much of what it may use up is used up
awaited_jobs    whether those have ended that a job waits for
lateness        whether a worker has had the time that it may take to register
idleness        whether it has held GPUs for long without using them
last_words      which of a worker's last lines tells why it failed
"""
