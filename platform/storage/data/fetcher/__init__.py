"""How does data of an object store come into the cache? By a program of its own, one per source.

It knows nothing of the service: it is told on its standard input what to do, with the credential,
and ends when that is closed. Whatever a store sends can hurt only the fetcher that asked for it.

__main__      reads the order, and does it within bounds of memory and of what may be called
---
listing       which objects there are
downloading   objects become files: in pieces, resumed, checked
---
checksums     whether a file is what the store has
pieces        which parts of which files are there already
stores/       one store of each kind, through well-kept clients
---
confinement   bounds of memory, and an end with whoever gave the order
guard         no connection leads to where it should not
orders        what there is to do, and what came of it
"""
