"""How does a decision become real? One module per verb.

The database first: each verb is one transaction that checks the fence, compares and sets, and
writes why. What the worker host has to do follows from those rows (`reconciling`), in the same tick
or, after a crash, in the next.
"""
