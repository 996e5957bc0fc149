"""What is removed, and when? Jobs and teams on request; everything else once it is old.

retention          what of jobs may be forgotten, and when
retention_periods  for how long each part of a job is kept
curve_thinning     how many points of a curve are kept while a job trains
job_deletion       what goes with a job
team_deletion      what goes with a team
"""
