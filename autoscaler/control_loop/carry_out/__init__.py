"""How is done what the rules say? The only writer of what follows from them.

`instructions` takes what one rule gave; `rows` has one function for each thing that is written,
of workers in `worker_rows`, and `processes` one for each order to the worker host.
"""
