"""Where training happens: pools and nodes, and the worker hosts that run processes there.

models                    pools, nodes and what is written down of them
nodes                     what becomes of nodes, and what others want to know of pools
following                 how a pool's nodes are made from the machines of a cluster
worker_host               the port: how processes are started, stopped and found
process_environments      its other half: what a process sees
worker_host_kind          all that the platform asks of a kind of worker hosts
installed_worker_hosts    which kinds there are, by name
docker_host               processes in containers, on one or many machines
process_host              processes of this machine
ray_host                  processes on the nodes of a Ray cluster
simulated_host            nothing trains, and all else is as it would be: for loads and for a look
in_memory_host            nothing runs: for tests
logs                      where is what processes write, and how is it read again
files                     files that several processes use at once
background                what is done while nobody waits, and how its troubles are told
shells                    how a command of a person runs beside a worker
usage                     what workers take of nodes, as values, and how a machine is read
gpu_listing, machine      what a node says of its GPUs, memory and cores
variables                 how variables of the environment are read
source_root               where this package is, for the programs of it that are started
admin, apps               what Django asks for
"""
