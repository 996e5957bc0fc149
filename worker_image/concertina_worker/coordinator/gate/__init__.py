"""The way out of a job whose team may reach a list of hosts, in a process of its own.

Workers have a network without a way out, on which the job's coordinator is, too. Beside that runs
the gate: a proxy for `CONNECT`, which is what https goes through. It looks names up itself, and
calls nobody but who is listed.

`reachable` says who that is, `tunnels` carries bytes, `keeping` has the process run.
"""
