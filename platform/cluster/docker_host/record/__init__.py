"""What is written down of a process, because Docker cannot keep it?

`records` has a folder for each process.
"""
