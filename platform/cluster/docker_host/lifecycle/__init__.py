"""How does a launch become a container that runs, and what becomes of that?

`steps` decides: from how a process is and what is wished of it follows what is done next. All
others look, ask it, and do. `starting` runs until `making` has made a container, within a
`retry_budget`; `stopping` asks it to end within its grace period; `ending` removes it, with all
that belongs to it (`network_sweep`). Between, `listing` tells how each is, from the `inventory` of
all daemons, and `events` say when to look again. `former_release` removes what only that release
knew.
"""
