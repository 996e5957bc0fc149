"""What is removed, and when? Jobs and teams on request; everything else once it is old.

retention          what of jobs may be forgotten, and when
retention_periods  for how long each part of a job is kept
due_parts          which parts of which jobs are old, by the rules of their teams
rollups            how points of curves become fewer as they get old
job_deletion       what goes with a job
team_deletion      what goes with a team
"""
