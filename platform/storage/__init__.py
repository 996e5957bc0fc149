"""WHAT IS KEPT for jobs beside the database: their code, their data, the results that they leave.

uploads  what comes in pieces
code     snapshots of folders: packed by whoever submits, unpacked once, mounted for each worker
data     sources: folders with data that jobs are shown where they lie
results  outputs and checkpoints: read while the job may still change them
models   what the database knows of it
errors   what can go wrong, each with its code
"""
