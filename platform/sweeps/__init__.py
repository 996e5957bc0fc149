"""WHICH ONE: one spec with parameters of which the best values are searched, by many trials.

Each storey imports only from those below it:

    rounds      trials are weighed at rungs, and further ones are submitted; every few seconds
    ---
    beginning   somebody submits a sweep, or cancels it
    reading     which sweeps are there, and how did their trials go?
    retention   when sweeps are forgotten
    ---
    standings   how far is each trial of a sweep?
    places      which trials are submitted next?
    ---
    specs       which spec does each trial have?
    models      everything that is stored about sweeps
    ---
    search      which values are tried, and which trials go on? Pure
    ---
    errors      what can go wrong with a request about a sweep
"""
