"""What is trained? Jobs: what people ask for, what is stored, what may change and what is shown.

Each storey imports only from those below it:

    api        the REST endpoints about jobs
    admin      what admins see of jobs in Django's own pages
    ---
    commands   everything that changes jobs on somebody's request
    ---
    admission  can this spec ever run here?
    changes    the small writes that commands and the control loop share: state, events, hints
    queries    everything that is asked about jobs
    reports    what a job's own processes may report, and how they prove who they are
    ---
    models     everything that is stored about jobs
    spec       what a user may ask for
    ---
    errors                what can go wrong with a request about jobs
    notification_targets  whom a job may have told of it
    wait_condition        how a job must end for which others wait
    ---
    job_mode      how a job can change its workers
    lifecycle     the states of a job and the legal moves between them
    worker_phase  how far a worker can be
"""
