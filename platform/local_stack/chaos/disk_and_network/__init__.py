"""What around a stack can be taken away from it: its disk and its network.

`namespaces` gives one run a view of mounts and networks of its own, where it may; `disk` fills and
hangs the file system of the stack's state, with `hanging` as the program that does the latter;
`cuts` drops packets; `earlier_runs` removes what a run that was killed has left.
"""
