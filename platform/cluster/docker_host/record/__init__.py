"""What is written down of a process, because Docker cannot keep it?

`records` has a folder for each process, `warm_folders` one for each container that waits for a
launch; `adoption` knows which of these has become which process.
"""
