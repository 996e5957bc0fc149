"""How fast does a job train? Learned from the step times that its workers report.

    observations  which step times can be believed, in the form that a fit reads
    priors        what is believed before the measurements say otherwise
    fitting       the likeliest model, and how far it may be off
    earlier_run   the same, with what an earlier run of the same training measured
    handing_on    what a run hands on to the next one of the same training

Only `fitting` and `earlier_run` load scipy.
"""
