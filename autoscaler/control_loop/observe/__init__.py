"""How does everything stand? Reads the database and the worker host, changes nothing.

for_planner     jobs, pools and teams as values of `planning`
for_rules       one job as the values that `reconciling` decides upon
---
jobs            the rows of many jobs at once, with their processes
"""
