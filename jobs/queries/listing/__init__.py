"""What does a list of jobs show, and which of them?

filters  which jobs somebody asks for
pages    where the next page begins
rows     what is shown of each
arrays   which jobs are trials of one array, and how they stand
dependencies  for which jobs a job waits, and which wait for it
"""
