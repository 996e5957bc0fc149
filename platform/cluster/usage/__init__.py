"""What do processes take of their node's processors, memory and GPUs? Read from outside.

    nvidia         GPUs, through NVIDIA's management library
    process_trees  processes and all that they started, through `/proc`
    ---
    readings       what was read, as values, and the port to who reads it

Each imports only from those below the line.
"""
