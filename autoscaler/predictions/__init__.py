"""When will the live jobs start and finish? The simulator looks ahead from where the loop stands.

    outlook         what would become of a job that is not submitted yet
    ---
    live_jobs       predicts every live job, and keeps what it predicts
    ---
    advice          what would start each job that waits
    last_look       whether anything has happened since was looked ahead
    outside_waits   for what a job would wait that no plan gives it
    pace            how often may be looked ahead
    predictable     which jobs can be predicted, where one of them makes the simulation fail
    recent_past     what the near past says of the near future
    track_record    how predictions did lately, and what corrects the next ones

All of it happens in the background, but for the outlook, which somebody waits for; no tick does.
"""
