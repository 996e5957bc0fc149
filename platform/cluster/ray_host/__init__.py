"""Runs the processes of jobs on the nodes of a Ray cluster, whatever that cluster runs on.

Ray knows the machines, leases us their GPUs, starts one agent of ours on each and carries our
calls. All else is ours: processes with a supervisor each, which outlive Ray's daemons, as those of
the process host do, which each agent keeps.

`kind` says what the installation's variables configure, and `nodes` which nodes there are;
`inspection` tells an admin what is wrong with them. `host` is the port; `log_copies` brings logs
from the nodes. `link_process` keeps the `link`, the only process that loads Ray. `agent` runs on
each node, and `fitness` tells whether jobs can run there: `shared_state` whether it has the
service's folder. `node_users` keeps teams apart there. Service and agents talk in the words of
`wire`.
"""
