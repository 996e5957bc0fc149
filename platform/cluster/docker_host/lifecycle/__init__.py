"""How does a launch become a container that runs, and what becomes of that?

`starting` runs until `making` has made it, with `patience`; `stopping` asks it to end within its
grace period; `ending` removes it, with all that belongs to it (`network_sweep`). Between, `listing`
tells how each is, from the `inventory` of all daemons, without waiting long (`slow_refill`), and
`events` say when to look again. `chores` are done in the background; one is `prefetching` images.
`former_release` removes what only that release knew.
"""
