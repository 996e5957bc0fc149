"""Runs the processes of jobs in Docker containers, on one or many nodes.

Every container carries labels that tell which process it is, so any number of service processes may
use the same daemons, and a new one finds everything. What Docker cannot keep (a process that could
not be started, until when one may take its time to end, how far its log was copied) is in a small
folder per process.

`kind` says what the installation's variables configure; `nodes` and `urls`, where the daemons are;
`process_environments`, what a process in a container sees.

Read `host`, the face, and `wiring`, which says who works with whom; then the storeys, each of which
knows only those below it:

    shells        people are led beside workers
    lifecycle     a launch becomes a container that runs, is listed, is stopped, ends and goes
    logs          copies of what containers write
    record        what is written down of a process, in a folder for each
    container     what Docker is told of a launch, and what Docker tells of a container
    connection    the daemons, and how they are reached

`discovery` asks which GPUs a node has, `gauge` what workers take of it, for which a `gpu_teller`
goes on asking how busy its GPUs are, `prefetching` fetches images before any launch names them,
`sweep` ends all of an installation.
"""
