"""Who used, lent and borrowed how much GPU time, and was given what it was owed?

endpoint   answers who used how much
receipt    answers whether a team was given what it was owed; `receipt_words` says it
gpu_prices answers what a GPU-hour costs from which day on, and lets admins say it
reports    answers what a month cost, a team or all; `report_documents` says how,
           `report_composing` makes it of what is read, and `report_words` says it in words
query      what may be asked
documents  how it is answered: as JSON, or as a table
"""
