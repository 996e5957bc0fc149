"""How fast does a job train? Learned from the step times that its workers report.

    observations  which step times can be believed, in the form that a fit reads
    priors        what is believed before the measurements say otherwise
    fitting       the likeliest model, and how far it may be off

Only `fitting` loads scipy.
"""
