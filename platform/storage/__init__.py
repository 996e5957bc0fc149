"""WHAT IS KEPT for jobs beside the database: their code, their data, the results that they leave.

Each storey imports only from those below it:

    repositories  git repositories, from which the platform fetches code
    ---
    data          sources: which data jobs may be given, and where it lies
    ---
    code          snapshots of folders: packed by whoever submits, unpacked once, then mounted
    results       outputs and checkpoints, while the job may still change them; models of teams
    ---
    uploads       what comes in pieces, whole or not at all
    ---
    models        what the database knows of it
    ---
    errors        what can go wrong, each with its code
"""
