"""What does the death of each component cost? Faults on purpose, and a table of what they did.

`faults` chooses them, `strikes` inflicts them at one of the `moments`, `watching` and `outcome` see
what follows, `invariants` says what must hold nevertheless, and `table` prints it all.
"""
