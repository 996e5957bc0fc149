"""WHAT IS KEPT for jobs beside the database: the code that they run.

code    snapshots of folders: packed by whoever submits, unpacked once, mounted for each worker
models  what the database knows of it
errors  what can go wrong, each with its code
"""
