"""Which Docker daemons are there, and how are they reached?

An `endpoint` says where a daemon listens; `connections` makes clients of it, through `tunnels`
where that is another machine; `daemons` knows which answer, and `engine_versions` which are too
old.
"""
