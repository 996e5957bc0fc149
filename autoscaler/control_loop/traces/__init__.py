"""What does a tick tell whoever traces jobs? Nothing, and at no cost, unless tracing is on.

tick_spans    the tick, its parts, and the plan of each job that it started or changed
start_spans   how long a worker host took to start processes of a job
"""
