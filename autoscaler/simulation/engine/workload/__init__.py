"""Which jobs come, and when?

    trace         the answer as a value: the workload that a simulation replays
    applications  the kinds of jobs there are: six measured, three made up
    arrivals      when jobs come, drawn from a seed
    lengths       how long they are
    generators    draws a whole workload from these three
    recipes       a workload described in few words, and sized by its load
    importers/    reads and writes each of the known formats
    recordings    recognises the format of a recorded workload, and reads it
    selection     the part of a trace that is replayed

Each module imports only from those above it.
"""
