"""What does a coordinator's report change? Each part of a report is stored in a few statements.

sync             the whole report; the answer is the state that is wanted
workers          what a coordinator sees of its workers
generations      which sets of workers trained
measurements     how long steps took
metrics          points of progress
script_warnings  what a script should be looked at for
reported_events  the events that follow from a report
service_time     when something reported really was
"""
