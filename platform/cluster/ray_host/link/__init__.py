"""The only process that loads Ray: a program that the service talks with in lines of JSON.

`__main__` reads questions and writes answers; `connection` gets into the cluster, through
`own_raylet`, or says why not; `membership` knows which nodes there are, as the `head` says;
`agents` has an agent on each, and `asking` asks them. `machine_leases` asks for more machines.
"""
