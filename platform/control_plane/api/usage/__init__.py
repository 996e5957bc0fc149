"""Who used, lent and borrowed how much GPU time?

endpoint   answers
query      what may be asked
documents  how it is answered: as JSON, or as a table
"""
