"""What is known of a job's speed, and how far was read what tells of it?

- `measurement`: how fast it was at each of its sizes
- `script_reading`: how far the files of a script without the library were read
"""
