"""Runs the processes of jobs in Docker containers, on one or many nodes.

Every container carries labels that tell which process it is, so any number of service processes may
use the same daemons, and a new one finds everything. What Docker cannot keep (a process that could
not be started, until when one may take its time to end, how far its log was copied) is in a small
folder per process.
"""
