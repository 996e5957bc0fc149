"""How does everything stand? Reads the database and the worker host, changes nothing.

`views` reads the rows of many jobs at once; `snapshots` makes of one job's rows and processes the
values that `reconciling` decides upon, and `answers` looks up what its rules ask for beyond them.
"""
