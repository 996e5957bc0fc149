"""What has to be done for a job whatever the plan says? Decided here, carried out by the loop.

Pure, as planning is: a rule takes one job as it stands and gives what is to be done. Each part
imports only from those below it.

    rest              until when no rule has anything to do
    table             which rules hold for which jobs, and in which order
    ---
    rules             what each rule does about a job
    ---
    assessments       what a snapshot means, before a rule decides: losses, disks, deadlines
    instructions      what is to be done, as values
    words             how sentences name workers, nodes and limits
    ---
    snapshot          how a job stands, as values
    ---
    limits            how long things may take
    questions         what a rule asks for, because it costs something to find out
    ---
    worker_snapshot   how one worker stands, and its node
    ---
    endings           what the way a worker ended means

Rules are level-triggered: they look at how things stand, not at what happened, so a tick that died
half way is simply continued by the next.
"""
