"""What do coordinators' reports change? One statement reads the jobs, another writes it all.

sync             whole reports; the answer to each is the state that is wanted
script_progress  the same of a script that reports by itself
---
reporting_job    what has to be known of the jobs before
rows             points, step times and workers, all of them in one statement
---
job_as_a_whole   columns of its row
generations      which sets of workers trained
script_warnings  what a script should be looked at for
reported_events  the events that follow from a report
pauses           how often a job reports, and how far apart its points are
service_time     when something reported really was
"""
