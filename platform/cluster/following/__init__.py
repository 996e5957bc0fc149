"""How does a pool follow a cluster: which nodes has it, of which machines? Pure.

`roster` is what the cluster says of its machines, `labels` how a pool chooses some of them, and
`steps` what has to change so that its nodes are those. `asking` decides when a pool asks for one
more machine, and which node is given back.
"""
