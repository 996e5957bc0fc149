"""Why does every job get what it gets? Values with numbers first, words from them afterwards.

A plan is cheap and says nothing. Whoever wants to know more asks `plan.explanations[job_id]` for a
value (`decisions.explanation`), which is derived from the whole pool at that moment and no earlier.

    derived         chooses which of the next three explains an outcome
    waiting         why a job waits, or was refused
    changes         why a job started, changed its size or was paused
    keeping         why a job stays as it is, and what would let it grow
    references      other jobs, teams and choices, as an explanation names them
    remedies        what could be changed so that a waiting job starts
    changed_states  the snapshot as it would be with such a remedy
    remedy_search   finds a remedy that helps: plans each of these snapshots
    audience        takes out what a reader may not know
    sentences/      puts what is left into words
"""
