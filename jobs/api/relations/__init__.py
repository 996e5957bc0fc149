"""What are the endpoints about jobs that belong together?

dependencies  for whom a job waits, and who waits for it
arrays        the trials of an array as a whole
"""
