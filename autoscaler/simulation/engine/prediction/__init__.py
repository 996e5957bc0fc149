"""When will each job start and finish?

    uncertainty  what is not known of the present, drawn anew for each replay
    prediction   the present replayed forward several times; the spread is the answer
    calibration  how often what comes falls into the predicted range

Each module imports only from those above it.
"""
