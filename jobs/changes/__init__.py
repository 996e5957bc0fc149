"""Which writes do commands and the control loop share? The small ones, each with its guard.

transitions      a job changes its state
state_spans      how long it was in the state that it leaves, for the trace of its submission
events           what happened is written down for people
numbering        events get their places among those of all jobs, once they are committed
demand_signal    whoever plans hears that the demand for GPUs may have changed
wake_signal      a job's coordinator hears that something else is wanted of the job
batch_limit      how many samples fit a worker, as declared or as found
lost_node_names  workers keep the name of a node that is deleted
"""
