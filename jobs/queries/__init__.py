"""What can be asked about jobs? These modules only read.

visible_jobs     the jobs that a caller may see, with their numbers
histories        what happened in one job: events, generations, workers
event_feed       what happened to all jobs that a caller sees, after a position
curves           how one job went over time, and how fast it trained in each of its generations
listing          which jobs a list has, and what it shows of each; arrays; which jobs wait for which
newest_decision  what the planner last decided about a job
gpu_demand       how many GPUs teams want of a pool
stragglers       on which nodes and GPUs workers were slow lately
limits_of_use    which limits hold for a job, and how much of each is used up
extents          how large a job may be, of each that is shown
summary          how jobs did in a stretch of time
predictions      what predictions say by now, and how good they were
upload_use       to which code and data that teams have uploaded nobody refers
kept_checkpoints who still needs a checkpoint
"""
