"""What does a tick cost? Run `python -m benchmarks.tick_cost [jobs ...]`.

So many jobs train on four GPUs each (`--workers`), in one pool (`--pools`) and a PostgreSQL of the
benchmark's own, with processes on the worker host in memory and the real planner; twenty times as
many have ended. Ticks are measured in three situations: nothing happened since the last tick;
every job reported something; and one job in twenty ended while as many came. Counted are
statements, processor seconds of the tick's process and those of PostgreSQL for it, each in three
parts: until the planner is asked (observe), until its plan is checked (plan), and the rest (carry
out).

Processor seconds and statements mean something on a busy machine, too. The medians of three ticks
are printed.

`python -m benchmarks.tick_cost 10000 --workers 10 --still --rounds 1` is a tick over 100,000 GPUs
(docs/production/large-clusters.md): no job is tried at other sizes before, and none has ended.

crowd      the jobs that train, as rows and processes
ground     the database in which it happens
measuring  what one tick cost, part by part
"""
