"""How does a folder of code get to the service, and back?

packing     a folder becomes an archive, the same one however often and wherever it is packed
ignoring    which files stay out of it
provenance  from which commit it came
spec        which folder a job's spec names
fetching    an archive becomes a folder again
"""
