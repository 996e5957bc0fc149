"""What binds jobs to each other?

dependency  for which jobs a job waits
job_array   which jobs are trials of the same array
"""
