"""What was fetched from object stores, on the disk that all nodes see?

copies   what the database knows of it, and what goes when room is needed
fetches  the fetchers that are at work, what came of others, and when they are tried again
turns    which fetches have a place, where there are too few: pure
room     which versions go, so that others fit: pure
words    how far a fetch is, for people
paths    which folder or file holds what
"""
