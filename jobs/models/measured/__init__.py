"""What was measured of a job, and how far was read what tells of it?

- `measurement`: how fast it was at each of its sizes
- `usage_point`: what its workers took of their nodes
- `script_reading`: how far the files of a script without the library were read
"""
