"""What has an admin set up, as one document, and how does it become another?

objects   what a set-up consists of, flat: a key and fields for each pool, node, team, quota, ...
nesting   the same as the document that people write, and back
changes   what has to be changed so that a set-up is as a document says
rules     which set-ups cannot be
errors    why a document is refused
stored    what the database has
checks    what the models say of single objects
in_use    what cannot be taken away, and by whom it is used
writing   changes become rows
versions  what it was at a moment
applying  the whole of it: read, compare, check, write, in one transaction

The first four are pure.
"""
