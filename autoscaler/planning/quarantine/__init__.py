"""What becomes of jobs with data that make planning fail? All other jobs are planned without them.

    culprits        finds these jobs by halving, in a bounded time
    standing_still  makes a job of them that only holds what it has

The control loop and the predictions call both; the planner knows neither.
"""
