"""What becomes of nodes and pools, and what do others want to know of them?

`maintenance` takes a node out of service and back; `silence` notes which do not answer;
`node_changes` writes down each change, and `retention` forgets old ones. `queries` tells how large
pools are and how they were used; `following` makes nodes from the machines of a cluster, and
`asking` asks it for more.
"""
