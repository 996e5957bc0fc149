"""Where is what processes write, and how is it read again?

`log_lines` cuts a stream into lines at a bounded `pace`, and `log_files` keeps so much of them. To
read, `log_store` merges the files of several processes by time; `log_blocks` reads a file in blocks
from either end, and `log_positions` says from where to go on. `whole_log` is all that is kept of a
job's log, as the bytes of one file.
"""
