"""What does a hostile tenant cost the other team? Run `python -m benchmarks.hostile_tenant`.

One stack of its own, two teams. In each round the other team's submit → first step and the ticks
are measured twice: in peace, and while the hostile team does all of this at once, from an address
of its own and with eight tokens:

- its queue is full of specs with the most extreme numbers that are accepted, some of which it
  cancels and submits anew;
- its jobs' coordinators report at full rate and size, under the right token and term;
- its running jobs write to their logs without end, with and without line ends;
- it follows these logs, at different paces or without reading, and reads pages of them;
- it guesses passwords over the API and over the admin's form;
- it sends large bodies, slow bodies, bodies without an announced length, and opens connections on
  which it says nothing;
- it asks for everything there is at full rate from 64 connections;
- it writes to the same few rows from many connections.

The programs that attack and the hostile jobs are of the lowest priority (nice 19, for their whole
session) and, where root can make one, in a control group that is idle, as if they ran on other
machines: what counts is what the service does, not that two cores are shared. Where others use the
machine as well they would get nothing; `--nice 5` gives them more, and no such group.
The hostile queue is put aside between the attacks by one statement, for to fill it takes minutes.

ground     the stack, and its two teams
flood      what a hostile job runs
wire       how an attacker speaks HTTP
left_over  keeps attackers to what the processors have left over
measuring  what the other team notices, and what the processor does meanwhile
"""
