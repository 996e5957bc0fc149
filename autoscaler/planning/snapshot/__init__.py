"""What does the planner see? The cluster at one moment, as plain values.

    vocabulary      the choices that users, the database and the planner share
    job_terms       what the user of a job asked for
    cluster_state   the whole snapshot: jobs, nodes, pools and the quotas of teams
    remaining_work  how much work a job has left, for whoever makes a snapshot

Each of the first three builds on those above it.
"""
