"""One process per running job, outside its workers: it outlives them all.

Standard library only: it starts in an instant and costs a few megabytes. It is started as
`python -m concertina_worker.coordinator`.

An event comes in, and instructions go out:

1. `connections`: workers and the service, over the network; what they say becomes `events`
2. `machine`: the state machine around what follows, without sockets, clock and files
3. `updates`: what an event changes in what the coordinator knows
4. `knowledge`: what it knows of the workers, what it must not forget, what it still has to report
5. `decisions`: who trains together next; they become `instructions`
6. `state_file`: where the coordinator's memory lies, before any instruction is carried out

`gate` is the way out of jobs whose team may reach a list of hosts, in a process of its own.
`stragglers` says which worker holds the others up, and `foreign_group` whether workers that never
registered have formed a process group of their own.
"""
