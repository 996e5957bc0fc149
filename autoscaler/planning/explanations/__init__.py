"""Why does every job get what it gets? Values with numbers first, words from them afterwards.

A plan is cheap and says nothing. Whoever wants to know more asks `plan.explanations[job_id]` for a
value (`values`), derived from the whole pool (`derived`) at that moment and no earlier; takes out
of it what its reader may not know (`audience`); and puts it into words (`rendering`).
"""
