"""When will each job start and finish?

    past         what is known of the near past
    ranges       between which moments something probably happens
    lengths      how much work a job has left
    uncertainty  what is not known of the present, drawn anew for each replay
    own_luck     when a job would end on its course in a replay, had it other luck of its own
    prediction   the present replayed forward several times; the spread is the answer
    correction   how far off ranges were lately, and what corrects the next ones
    calibration  how often what comes falls into the predicted range

Each module imports only from those above it.
"""
