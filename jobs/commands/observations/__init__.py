"""What does a coordinator's report change? One statement reads the job, another writes it all.

sync             the whole report; the answer is the state that is wanted
---
reporting_job    what has to be known of the job before
one_statement    how rows of several tables are written at once
---
workers          what a coordinator sees of its workers
generations      which sets of workers trained
measurements     how long steps took
metrics          points of progress
script_warnings  what a script should be looked at for
reported_events  the events that follow from a report
service_time     when something reported really was
"""
