"""What can be counted of a stack from outside?

- `reading`: all of it at a moment, and what was spent between two
- `processes`, `database`, `ticks`: where the counts come from
- `percentiles`: what most of many numbers are below
"""
