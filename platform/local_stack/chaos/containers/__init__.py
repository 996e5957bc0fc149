"""On which machines do jobs in containers train? Three on one, and how they die.

`cables` connects network namespaces, `machine` is one of them with its Docker daemon, `machines`
are all of them in one swarm; `seen` finds the processes of containers, `silences` the nodes that
the service misses, `faults` what happens to a daemon or a node, and `stack` puts it together.
"""
