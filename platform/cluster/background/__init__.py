"""How is something done that nobody waits for, and how do people hear of its troubles?

`background_jobs` are threads, at most one for each thing; `told_once` says whether a trouble is
news. `polled_events` looks for changes of processes where no host tells them.
"""
