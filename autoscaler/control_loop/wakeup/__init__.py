"""What makes a tick come before its time?

triggers    changed demand, and a control worker that begins
watch       a process that ended, or started
ask         asks for one tick, however many want it at once
"""
